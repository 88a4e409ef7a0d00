import { english } from "./words-en.js";
import { russian } from "./words-ru.js";

const parameters = new URLSearchParams(location.search);
const preferred = parameters.get("lang") ?? navigator.language;

/** An IETF tag; `?lang=` takes precedence over the browser's language. */
export const language = /^[a-z]{2,3}(-[\w-]{1,30})?$/i.test(preferred) ? preferred : "en";
export const words = /^ru\b/i.test(language) ? russian : english;

/** Fills the elements marked with `data-words`, `data-label` and `data-placeholder`. */
export function fillWords() {
  document.documentElement.lang = words === russian ? "ru" : "en";
  for (const marked of document.querySelectorAll("[data-words]")) marked.textContent = words[marked.dataset.words];
  for (const marked of document.querySelectorAll("[data-label]")) marked.ariaLabel = words[marked.dataset.label];
  for (const marked of document.querySelectorAll("[data-placeholder]")) {
    marked.placeholder = words[marked.dataset.placeholder];
  }
}
