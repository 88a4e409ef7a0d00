import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import type { EarlyStart } from "./early-start.ts";
import { loadTranslator } from "./locales/load-translator.ts";
import { TranslatorProvider } from "./locales/use-translator.tsx";
import { createHost } from "./telegram/host.ts";
import { readLaunch } from "./telegram/launch.ts";
import { paintButton } from "./telegram/paint-button.ts";
import { readLanguageCode } from "./telegram/read-language-code.ts";
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
createRoot(root).render(
  <TranslatorProvider value={translator}>
    <App early={early} host={host} />
  </TranslatorProvider>,
);
