import "./old-browsers.ts";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { readEarlyAnswer } from "./ad-service-client.ts";
import { App } from "./app.tsx";
import type { EarlyStart } from "./early-start.ts";
import { Crashed } from "./entry/crashed.tsx";
import { loadTranslator } from "./locales/load-translator.ts";
import { TranslatorProvider } from "./locales/use-translator.tsx";
import { createHost } from "./telegram/host.ts";
import { lateBridge } from "./telegram/late-bridge.ts";
import { isSlowPhone, readLaunch } from "./telegram/launch.ts";
import { paintTheme } from "./telegram/paint-theme.ts";
import { readLanguageCode } from "./telegram/read-language-code.ts";
import { ErrorBoundary, faultPlace } from "./ui/error-boundary.tsx";
import type { Start } from "./watch-ad/use-ad-session.ts";
import { playableTypes } from "./watch-ad/video-element.ts";
import "./ui/styles.css";

/** The first version of Telegram's clients that has mini-apps. */
const OLDEST_VERSION = "6.0";

/** A function, because top-level `await` would make the bundler move shared modules into a second file of the first load. */
async function main(): Promise<void> {
  // If the server's policy does not allow the inline script, the app only starts more slowly.
  const early: EarlyStart = window.earlyStart ?? {
    launch: readLaunch(location),
    types: playableTypes(document.createElement("video")),
    opening: undefined,
  };
  const { launch, types } = early;
  const opening = early.opening && readEarlyAnswer(early.opening);
  paintTheme(launch.theme);
  if (isSlowPhone(navigator.userAgent)) document.documentElement.dataset.phone = "slow";
  const bridge = lateBridge(async () =>
    (await import("./telegram/sdk-bridge.ts")).createBridge(launch.version ?? OLDEST_VERSION),
  );
  const host = createHost(bridge);
  host.ready();
  const translator = await loadTranslator(readLanguageCode(launch.initData));
  const start: Start = {
    launch,
    types,
    opening,
    video: () => early.video,
    // If the early start has shown the picture, the response is available: start directly with its screen.
    answer: early.video && (await opening),
  };
  // The first render replaces the page's content.
  early.candidate = document.querySelector("video");
  document.title = translator.text("pageTitle");
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  // The console shows only the code that the user may quote to support, no personal data.
  createRoot(root, { onCaughtError: (fault) => console.error("crashed at", faultPlace(fault)) }).render(
    <StrictMode>
      <TranslatorProvider value={translator}>
        <ErrorBoundary fallback={({ place, retry }) => <Crashed place={place} onRetry={retry} />}>
          {/* A retry opens the session again, because the report numbers of the early one are already used. */}
          {(attempt) => <App start={attempt === 0 ? start : { launch, types, video: start.video }} host={host} />}
        </ErrorBoundary>
      </TranslatorProvider>
    </StrictMode>,
  );
  // Neither is needed for the first screen, which should not wait for them. Without the second, the app works all the same.
  bridge.load();
  import("./ui/assist-reading.ts").then(({ assistReading }) => assistReading(root)).catch(() => {});
}

main();
