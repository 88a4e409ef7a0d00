import { readableButton } from "./readable-button.ts";

/** Replaces the theme's button colours with a readable pair. */
export function paintButton(theme: Readonly<Record<string, string>>): void {
  if (!theme.button_color) return;
  const { background, text } = readableButton(theme.button_color, theme.button_text_color ?? "#ffffff");
  document.documentElement.style.setProperty("--tg-button-color", background);
  document.documentElement.style.setProperty("--tg-button-text-color", text);
}
