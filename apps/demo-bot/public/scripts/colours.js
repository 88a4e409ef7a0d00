import { byId } from "./element.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
const root = document.documentElement;

// Keys are Telegram's theme names; values are the demo's colours, the same as in the style sheet.
const light = {
  bg_color: "#ffffff",
  secondary_bg_color: "#eef4ef",
  text_color: "#12211a",
  hint_color: "#54665c",
  link_color: "#13704a",
  button_color: "#13704a",
  button_text_color: "#ffffff",
  header_bg_color: "#ffffff",
  section_bg_color: "#ffffff",
  accent_text_color: "#13704a",
  subtitle_text_color: "#54665c",
  destructive_text_color: "#b3261e",
};
const dark = {
  bg_color: "#18221d",
  secondary_bg_color: "#0e1512",
  text_color: "#e9f2ec",
  hint_color: "#9fb3a7",
  link_color: "#55d096",
  button_color: "#1f8253",
  button_text_color: "#ffffff",
  header_bg_color: "#18221d",
  section_bg_color: "#18221d",
  accent_text_color: "#55d096",
  subtitle_text_color: "#9fb3a7",
  destructive_text_color: "#ff8a80",
};

const isDark = () => (root.dataset.colours ?? (system.matches ? "dark" : "light")) === "dark";

export function themeParams() {
  return isDark() ? dark : light;
}

export function onColours(listener) {
  listeners.add(listener);
}

function tell() {
  root.dataset.scheme = isDark() ? "dark" : "light";
  byId("colours").ariaPressed = String(isDark());
  for (const listener of listeners) listener();
}

/** `light`, `dark`, or `system` until the user chooses. */
export const chosenColours = () => root.dataset.colours ?? "system";

export function chooseColours(colours) {
  if (colours === "system") delete root.dataset.colours;
  else root.dataset.colours = colours;
  try {
    if (colours === "system") localStorage.removeItem("colours");
    else localStorage.setItem("colours", colours);
  } catch {
    // Without storage the choice lasts until the page closes.
  }
  tell();
}

/** Applies the colours chosen with the button or the menu; until the user chooses, the system's colour scheme. */
export function startColours() {
  byId("colours").addEventListener("click", () => chooseColours(isDark() ? "light" : "dark"));
  system.addEventListener("change", tell);
  tell();
}
