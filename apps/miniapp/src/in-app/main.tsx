/** The page of `/embed/{bot}`: the app in a frame of the publisher's own mini-app. A build of its own, so that the mini-app stays as it is. */
import "../old-browsers.ts";
import { createRoot } from "react-dom/client";
import { App } from "../app.tsx";
import { Crashed } from "../entry/crashed.tsx";
import { loadTranslator } from "../locales/load-translator.ts";
import { TranslatorProvider } from "../locales/use-translator.tsx";
import { isSlowPhone, readLaunch } from "../telegram/launch.ts";
import { paintTheme } from "../telegram/paint-theme.ts";
import { readLanguageCode } from "../telegram/read-language-code.ts";
import { ErrorBoundary, faultPlace } from "../ui/error-boundary.tsx";
import type { Start } from "../watch-ad/use-ad-session.ts";
import { loadVideo, playableTypes } from "../watch-ad/video-element.ts";
import { createFrameHost } from "./frame-host.ts";
import { FRAME_PORT, FRAME_READY, type ShownLaunch, type ToFrame } from "./messages.ts";
import { WatchedFrame } from "./watch-frame.ts";
import "../ui/styles.css";
import "./interstitial.css";

/** Where the frame is not in view by then, the ad waits for it. */
const PATIENCE_MS = 1000;

/** One port from the page around this frame, if its origin is registered; every other message is ignored. */
function receivePort(): Promise<MessagePort> {
  const origins = document.querySelector<HTMLMetaElement>('meta[name="app-origins"]')?.content.split(" ") ?? [];
  return new Promise((resolve) => {
    const onMessage = ({ source, origin, data, ports: [port] }: MessageEvent) => {
      if (source !== window.parent || !origins.includes(origin) || data !== FRAME_PORT || !port) return;
      window.removeEventListener("message", onMessage);
      resolve(port);
    };
    window.addEventListener("message", onMessage);
    // It says nothing, so any page may hear it; the policy of this one names who may frame it.
    window.parent.postMessage(FRAME_READY, "*");
  });
}

async function main(): Promise<void> {
  const port = await receivePort();
  const frame = new WatchedFrame();
  frame.start();
  let video: HTMLVideoElement | undefined;
  let isShown = false;
  const onMessage = ({ data }: MessageEvent<ToFrame>) => {
    // The page is anybody's, and may post anything.
    switch (data?.kind) {
      case "preload": {
        const { url, poster_url: poster } = data.media;
        video = loadVideo(document.createElement("video"), { media_url: url, ...(poster && { poster_url: poster }) });
        return;
      }
      case "show":
        if (isShown) return;
        isShown = true;
        return show(port, data, { frame, video: () => video });
      case "window":
        return frame.setWindow(data);
      case "event":
        // The host hears them, once the ad is shown.
        return;
      default:
        data satisfies never;
    }
  };
  port.addEventListener("message", onMessage);
  port.start();
}

async function show(
  port: MessagePort,
  launch: ShownLaunch,
  { frame, video }: { frame: WatchedFrame; video: Start["video"] },
): Promise<void> {
  const { initData, appGrant, format, note, code, theme, version, client } = launch;
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
      code,
      startParam: undefined,
      theme,
      version,
    },
    types: playableTypes(document.createElement("video")),
    video,
  };
  document.title = translator.text("pageTitle");
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  createRoot(root, { onCaughtError: (fault) => console.error("crashed at", faultPlace(fault)) }).render(
    <TranslatorProvider value={translator}>
      <ErrorBoundary fallback={({ place, retry }) => <Crashed place={place} onRetry={retry} />}>
        {() => <App start={start} host={host} />}
      </ErrorBoundary>
    </TranslatorProvider>,
  );
  // Without it, the app works all the same.
  import("../ui/assist-reading.ts").then(({ assistReading }) => assistReading(root)).catch(() => {});
}

main();
