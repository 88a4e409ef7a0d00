import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import { callAdService, type Reply } from "../call-ad-service.ts";
import { loadVideo, playableTypes } from "../watch-ad/video-element.ts";
import { acceptPort } from "./frame-port.ts";
import { FRAME_READY, type PreloadedMedia, type ShownLaunch, type ToFrame } from "./messages.ts";

/** State of the frame's inline script from before the app's files load. The app adopts its request and its video. */
interface EarlyFrame {
  readonly port: Promise<MessagePort>;
  /** Resolves with the launch, once. */
  readonly shown: Promise<ShownLaunch>;
  /** Messages that arrived before the app listened. */
  readonly heard: ToFrame[];
  readonly types: readonly string[];
  opening?: Promise<Reply<OpenSessionResponse>>;
  video?: HTMLVideoElement;
}

declare global {
  interface Window {
    earlyFrame: EarlyFrame;
  }
}

const types = playableTypes(document.createElement("video"));
const heard: ToFrame[] = [];

/** Places the video where the offer will show it. Only its beginning loads, in parallel with the app's files. */
function showVideo({ url, poster_url: poster }: PreloadedMedia): HTMLVideoElement {
  const video = window.earlyFrame.video ?? document.createElement("video");
  if (video.src === url) return video;
  loadVideo(video, { media_url: url, ...(poster && { poster_url: poster }) }).preload = "metadata";
  document.querySelector(".video-slot")?.append(video);
  window.earlyFrame.video = video;
  return video;
}

function open({ appGrant, format, note, consent, code }: ShownLaunch): Promise<Reply<OpenSessionResponse>> {
  const opening = callAdService<OpenSessionResponse>("", {
    bot_id: location.pathname.split("/").pop(),
    app_grant: appGrant,
    format,
    client_note: note,
    consent,
    code,
    media_types: types,
    preloaded: window.earlyFrame.video?.src.split("/media/")[1],
  });
  opening
    .then(({ body }) => {
      if (body.outcome !== "session" || body.state === "rewarded" || body.state === "watched") return;
      const { media_url: url, poster_url } = body.ad;
      showVideo({ url, poster_url });
    })
    // The app reads the same answer and reports its errors.
    .catch(() => {});
  return opening;
}

const port = acceptPort();
const shown = new Promise<ShownLaunch>((resolve) => {
  let isShown = false;
  port.then((opened) => {
    opened.addEventListener("message", ({ data }: MessageEvent<ToFrame>) => {
      heard.push(data);
      // The page is untrusted and may post any message.
      // Once the ad is shown, nothing may replace its video.
      if (isShown) return;
      if (data?.kind === "preload" && typeof data.media?.url === "string") showVideo(data.media);
      if (data?.kind !== "show") return;
      isShown = true;
      if (types.length > 0) window.earlyFrame.opening = open(data);
      resolve(data);
    });
    opened.start();
  });
});
window.earlyFrame = { port, shown, heard, types };
// The message has no content, so its target may be any origin. This page's policy limits which origins may frame it.
window.parent.postMessage(FRAME_READY, "*");
