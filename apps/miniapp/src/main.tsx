import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { readAnswer } from "./ad-service-client.ts";
import { App } from "./app.tsx";
import type { EarlyStart } from "./early-start.ts";
import { Crashed } from "./entry/crashed.tsx";
import { loadTranslator } from "./locales/load-translator.ts";
import { TranslatorProvider } from "./locales/use-translator.tsx";
import { createHost } from "./telegram/host.ts";
import { readLaunch } from "./telegram/launch.ts";
import { paintButton } from "./telegram/paint-button.ts";
import { readLanguageCode } from "./telegram/read-language-code.ts";
import { ErrorBoundary } from "./ui/error-boundary.tsx";
import { faultPlace } from "./ui/fault-place.ts";
import type { Start } from "./watch-ad/use-ad-session.ts";
import "./ui/styles.css";

// A host that does not admit the inline script by its hash costs speed, and nothing else.
const early: EarlyStart = window.earlyStart ?? { launch: readLaunch(location), opening: undefined };
const { launch } = early;
const opening = early.opening && readAnswer(early.opening);
paintButton(launch.theme);
const host = createHost(launch.version);
host.ready();
const translator = await loadTranslator(readLanguageCode(launch.initData));
const start: Start = {
  ...{ launch, opening, video: () => early.video },
  // A picture on the screen means that the answer is there: its own screen is the first one, without another between.
  answer: early.video && (await opening),
};
document.title = translator.text("pageTitle");
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
// Whoever opens the console of a broken page finds what its user may quote, and nothing that is only the user's.
createRoot(root, { onCaughtError: (fault) => console.error("crashed at", faultPlace(fault)) }).render(
  <StrictMode>
    <TranslatorProvider value={translator}>
      <ErrorBoundary fallback={({ place, retry }) => <Crashed place={place} onRetry={retry} />}>
        {/* A new attempt opens a new session: the early one's report numbers are used. */}
        {(attempt) => <App start={attempt === 0 ? start : { launch, video: start.video }} host={host} />}
      </ErrorBoundary>
    </TranslatorProvider>
  </StrictMode>,
);
