/** The page of the console's frame. The app's build excludes it and fails if it does not. */
import type { AdPreviewMessage } from "@intermission/ad-core/ad-preview";
import { createRoot } from "react-dom/client";
import { loadTranslator } from "../locales/load-translator.ts";
import { TranslatorProvider } from "../locales/use-translator.tsx";
import { readLanguageCode } from "../telegram/read-language-code.ts";
import { AdPreview } from "./ad-preview.tsx";
import "../ui/styles.css";

// The screens take the focus, as a phone's only page may. Here the reader may be typing in the console.
const takeFocus = HTMLElement.prototype.focus;
HTMLElement.prototype.focus = function (options) {
  if (document.hasFocus()) takeFocus.call(this, options);
};
window.addEventListener("keydown", ({ key, code, ctrlKey, metaKey, altKey, repeat }) => {
  if (!/^[\p{Ll}\p{Lo}?/]$/u.test(key) || ctrlKey || metaKey || altKey || repeat) return;
  window.parent.postMessage({ kind: "ad-preview-key", key, code } satisfies AdPreviewMessage, location.origin);
});

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
const translator = await loadTranslator(readLanguageCode(undefined));
createRoot(root).render(
  <TranslatorProvider value={translator}>
    <AdPreview />
  </TranslatorProvider>,
);
