import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import { callAdService } from "./call-ad-service.ts";
import { type Launch, readLaunch } from "./telegram/launch.ts";
import { paintTheme } from "./telegram/paint-theme.ts";
import { createVideo } from "./watch-ad/create-video.ts";

/** What stands inline in the page did before the app's files arrived. The app adopts the request and the very element. */
export interface EarlyStart {
  readonly launch: Launch;
  readonly opening: Promise<Response> | undefined;
  video?: HTMLVideoElement;
}

declare global {
  interface Window {
    earlyStart?: EarlyStart;
  }
}

const launch = readLaunch(location);
paintTheme(launch.theme);
const { botId, initData, code } = launch;
const opening =
  botId && initData
    ? callAdService("", { bot_id: botId, init_data: initData, ...(code && { code }) }).then(
        // Read at once: a body that waits for the app longer than a call may last is lost.
        async (response) => new Response(await response.text(), response),
      )
    : undefined;
const early: EarlyStart = { launch, opening };
window.earlyStart = early;
// The picture stands where the offer will have it, and is seen before the app's files are there.
opening
  ?.then((response) => response.clone().json())
  .then((answer: OpenSessionResponse) => {
    if (answer.outcome !== "session" || answer.state === "rewarded" || answer.state === "watched") return;
    const { ad } = answer;
    const video = createVideo(ad);
    early.video = video;
    const slot = document.querySelector<HTMLElement>(".video-slot");
    if (slot) slot.style.aspectRatio = `${ad.width}/${ad.height}`;
    slot?.append(video);
  })
  // The app reads the same answer, and says what is wrong with it.
  .catch(() => {});
