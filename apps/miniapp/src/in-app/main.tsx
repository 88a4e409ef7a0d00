/** The page of `/embed/{bot}`: the app in a frame of the publisher's own mini-app. A build of its own, so that the mini-app stays as it is. */
import "../old-browsers.ts";
import { createRoot } from "react-dom/client";
import { readEarlyAnswer } from "../ad-service-client.ts";
import { App } from "../app.tsx";
import { Crashed } from "../entry/crashed.tsx";
import { loadTranslator } from "../locales/load-translator.ts";
import { TranslatorProvider } from "../locales/use-translator.tsx";
import { isSlowPhone, readLaunch } from "../telegram/launch.ts";
import { paintTheme } from "../telegram/paint-theme.ts";
import { readLanguageCode } from "../telegram/read-language-code.ts";
import { ErrorBoundary, faultPlace } from "../ui/error-boundary.tsx";
import type { Start } from "../watch-ad/use-ad-session.ts";
import type {} from "./early-frame.ts";
import { createFrameHost } from "./frame-host.ts";
import type { ShownLaunch, ToFrame } from "./messages.ts";
import { WatchedFrame } from "./watch-frame.ts";
import "../ui/styles.css";
import "./interstitial.css";

/** Where the frame is not in view by then, the ad waits for it. */
const PATIENCE_MS = 1000;

async function main(): Promise<void> {
  const { port: receiving, shown, heard } = window.earlyFrame;
  const port = await receiving;
  const frame = new WatchedFrame();
  frame.start();
  const hear = (message: ToFrame) => {
    // The page is anybody's, and may post anything.
    switch (message?.kind) {
      case "window":
        return frame.setWindow(message);
      // The inline script has begun these.
      case "preload":
      case "show":
      // The host passes these on to the app.
      case "event":
        return;
      default:
        message satisfies never;
    }
  };
  for (const message of heard) hear(message);
  port.addEventListener("message", ({ data }: MessageEvent<ToFrame>) => hear(data));
  await show(port, await shown, frame);
}

async function show(port: MessagePort, launch: ShownLaunch, frame: WatchedFrame): Promise<void> {
  const { types, opening: replying } = window.earlyFrame;
  const { initData, appGrant, format, note, consent, code, theme, version, client } = launch;
  paintTheme(theme);
  if (isSlowPhone(navigator.userAgent)) document.documentElement.dataset.phone = "slow";
  const host = createFrameHost(port, { client, format, frame });
  host.ready();
  const [translator] = await Promise.all([loadTranslator(readLanguageCode(initData)), frame.untilInView(PATIENCE_MS)]);
  const start: Start = {
    launch: {
      botId: readLaunch(location).botId,
      initData,
      appGrant,
      format,
      note,
      consent,
      code,
      startParam: undefined,
      theme,
      version,
    },
    types,
    video: () => window.earlyFrame.video,
  };
  const opening = replying && readEarlyAnswer(replying);
  // If the inline script shows the video, the first screen must show it, too.
  const answer = window.earlyFrame.video && (await opening);
  document.title = translator.text("pageTitle");
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  createRoot(root, { onCaughtError: (fault) => console.error("crashed at", faultPlace(fault)) }).render(
    <TranslatorProvider value={translator}>
      <ErrorBoundary fallback={({ place, retry }) => <Crashed place={place} onRetry={retry} />}>
        {/* A retry opens the session again, because the report numbers of the early one are already used. */}
        {(attempt) => <App start={attempt === 0 ? { ...start, opening, answer } : start} host={host} />}
      </ErrorBoundary>
    </TranslatorProvider>,
  );
  // Without it, the app works all the same.
  import("../ui/assist-reading.ts").then(({ assistReading }) => assistReading(root)).catch(() => {});
}

main();
