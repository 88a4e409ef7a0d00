import { keepWordsWhole } from "./fit-words.ts";

/** What people need who read large text, or who use a keyboard or a screen reader. */
export function assistReading(root: HTMLElement): void {
  assistLargeText(root);
  keepFocus(root);
}

/** From here on, a foot that stays in sight would leave no room for what it belongs to. */
const LARGE = 1.3;

/**
 * Sets `data-text="large"` of the root element where the user reads large text. Browsers scale the root's font size; web
 * views of Android scale glyphs and leave every length as it is, which only a measured text shows. The returned function ends the care for large text.
 */
export function assistLargeText(root: HTMLElement): (() => void) | undefined {
  const { documentElement: page } = document;
  const probe = document.createElement("span");
  probe.textContent = "Measured text";
  probe.style.cssText = "position:absolute;visibility:hidden;white-space:nowrap;font:16px monospace";
  document.body.append(probe);
  const measuring = document.createElement("canvas").getContext("2d");
  if (measuring) measuring.font = "16px monospace";
  const plain = measuring?.measureText(probe.textContent).width || probe.offsetWidth;
  const glyphs = probe.offsetWidth / plain;
  probe.remove();
  const scale = glyphs * (Number.parseFloat(getComputedStyle(page).fontSize) / 16);
  if (scale < LARGE) return undefined;
  page.dataset.text = "large";
  return keepWordsWhole(root);
}

/** By then a new screen has given the focus to its heading. */
const SETTLED_AFTER_MS = 50;

/**
 * Keeps the focus inside the page. A focused element that disappears leaves the focus on `<body>`, where a keyboard or a
 * screen reader begins at the top again: the screen's main control takes it, or else its heading.
 */
function keepFocus(root: HTMLElement): void {
  const isLost = () => document.activeElement === null || document.activeElement === document.body;
  let hadFocus = !isLost();
  root.addEventListener("focusin", () => {
    hadFocus = true;
  });
  const giveHome = () => {
    const homes = [...root.querySelectorAll<HTMLElement>("[data-focus-home]"), ...root.querySelectorAll("h1")];
    for (const home of homes) if (isLost()) home.focus({ preventScroll: true });
  };
  let waiting: ReturnType<typeof setTimeout> | undefined;
  new MutationObserver(() => {
    if (!hadFocus || !isLost()) return;
    clearTimeout(waiting);
    waiting = setTimeout(giveHome, SETTLED_AFTER_MS);
  }).observe(root, { childList: true, subtree: true, attributeFilter: ["style"] });
}
