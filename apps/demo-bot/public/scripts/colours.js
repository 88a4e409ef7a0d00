import { byId } from "./element.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
const root = document.documentElement;

// Telegram's names, our garden's colours. The style sheet has the same ones.
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
  byId("colours").ariaPressed = String(isDark());
  for (const listener of listeners) listener();
}

/** The button chooses; until it did, the system's choice is followed. */
export function startColours() {
  byId("colours").addEventListener("click", () => {
    root.dataset.colours = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("colours", root.dataset.colours);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    tell();
  });
  system.addEventListener("change", tell);
  tell();
}
