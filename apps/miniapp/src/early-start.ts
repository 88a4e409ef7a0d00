import type { OpenSessionResponse } from "@intermission/ad-core/player-api";
import { type Answer, openSession } from "./ad-service-client.ts";
import { type Launch, readLaunch } from "./telegram/launch.ts";
import { paintTheme } from "./telegram/paint-theme.ts";
import { createVideo } from "./watch-ad/create-video.ts";

/** What stands inline in the page did before the app's files arrived. The app adopts the request and the very element. */
export interface EarlyStart {
  readonly launch: Launch;
  readonly opening: Promise<Answer<OpenSessionResponse>> | undefined;
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
  botId && initData ? openSession({ bot_id: botId, init_data: initData, ...(code && { code }) }) : undefined;
const early: EarlyStart = { launch, opening };
window.earlyStart = early;
opening?.then((answer) => {
  if (answer.outcome === "answered" && answer.body.outcome === "session" && answer.body.state !== "rewarded") {
    early.video = createVideo(answer.body.ad);
  }
});
