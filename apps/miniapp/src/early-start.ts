import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import { callAdService, type Reply } from "./call-ad-service.ts";
import { greetClient } from "./telegram/greet-client.ts";
import { type Launch, readLaunch } from "./telegram/launch.ts";
import { paintFirstColours } from "./telegram/paint-theme.ts";
import { loadVideo, playableTypes } from "./watch-ad/video-element.ts";

/** The state that the inline script created before the app's files arrived. The app adopts its request and video element. */
export interface EarlyStart {
  readonly launch: Launch;
  /** What the browser plays. */
  readonly types: readonly string[];
  readonly opening: Promise<Reply<OpenSessionResponse>> | undefined;
  video?: HTMLVideoElement;
  /** The page's own video, which the app took out of the page before the opening was answered. */
  candidate?: HTMLVideoElement | null;
}

declare global {
  interface Window {
    earlyStart?: EarlyStart;
  }
}

const launch = readLaunch(location);
paintFirstColours(launch.theme);
greetClient();
const { botId, initData, code, startParam } = launch;
const video = document.createElement("video");
const types = playableTypes(video);
/** The service's page may contain a video that it expects this opening to choose. */
const preloaded = document.documentElement.dataset.video;
const opening =
  botId && initData && types[0]
    ? callAdService<OpenSessionResponse>("", {
        bot_id: botId,
        init_data: initData,
        code,
        start_param: startParam,
        media_types: types,
        preloaded,
      })
    : undefined;
const early: EarlyStart = { launch, types, opening };
window.earlyStart = early;
// Shows the picture where the offer will have it, before the app's files arrive. This handler is registered first, so the
// app finds the element already created and never loads a second one.
opening
  ?.then(({ body }) => {
    if (body.outcome !== "session" || body.state === "rewarded" || body.state === "watched") return;
    const { ad } = body;
    const slot = document.querySelector<HTMLElement>(".video-slot");
    early.video = loadVideo(early.candidate ?? slot?.querySelector("video") ?? video, ad);
    if (!slot) return;
    slot.style.aspectRatio = `${ad.width}/${ad.height}`;
    slot.append(early.video);
  })
  // The app reads the same response and reports its errors.
  .catch(() => {});
