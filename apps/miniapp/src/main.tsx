import { createRoot } from "react-dom/client";
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
import "./ui/styles.css";

// A host that does not admit the inline script by its hash costs speed, and nothing else.
const early: EarlyStart = window.earlyStart ?? { launch: readLaunch(location), opening: undefined };
paintButton(early.launch.theme);
const host = createHost(early.launch.version);
host.ready();
const translator = await loadTranslator(readLanguageCode(early.launch.initData));
document.title = translator.text("pageTitle");
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
// Whoever opens the console of a broken page finds what its user may quote, and nothing that is only the user's.
createRoot(root, { onCaughtError: (fault) => console.error("crashed at", faultPlace(fault)) }).render(
  <TranslatorProvider value={translator}>
    <ErrorBoundary fallback={({ place, retry }) => <Crashed place={place} onRetry={retry} />}>
      {/* A new attempt opens a new session: the early one's report numbers are used. */}
      {(attempt) => <App early={attempt === 0 ? early : { ...early, opening: undefined }} host={host} />}
    </ErrorBoundary>
  </TranslatorProvider>,
);
