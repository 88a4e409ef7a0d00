import { readableButton } from "./readable-button.ts";

type Theme = Readonly<Record<string, string>>;

/** Sets the client's colours as CSS variables `--tg-bg-color` and so on. Small enough to be inlined into the page. */
export function paintColours(theme: Theme): void {
  for (const name in theme)
    document.documentElement.style.setProperty(`--tg-${name.replace(/_/g, "-")}`, theme[name] ?? null);
}

/** Sets the client's colours, and marks the page as dark or light. */
export function paintTheme(theme: Theme): void {
  paintColours(theme);
  const { dataset, style } = document.documentElement;
  if (theme.bg_color) dataset.scheme = style.colorScheme = isDark(theme.bg_color) ? "dark" : "light";
}

function isDark(colour: string): boolean {
  // The first hex digits of red, green and blue, for both "#rgb" and "#rrggbb".
  const step = colour.length > 4 ? 2 : 1;
  const [red = 0, green = 0, blue = 0] = [1, 1 + step, 1 + 2 * step].map((at) =>
    Number.parseInt(colour.charAt(at), 16),
  );
  return red * 3 + green * 6 + blue < 75;
}

/** Replaces the theme's button colours with a readable pair. */
export function paintButton(theme: Readonly<Record<string, string>>): void {
  if (!theme.button_color) return;
  const { background, text } = readableButton(theme.button_color, theme.button_text_color ?? "#ffffff");
  document.documentElement.style.setProperty("--tg-button-color", background);
  document.documentElement.style.setProperty("--tg-button-text-color", text);
}

const SIDES = ["top", "right", "bottom", "left"] as const;

/** Sets the insets covered by the client as CSS variables `--tg-device-top`, `--tg-content-bottom` and so on. */
export function paintSafeArea(
  area: "device" | "content",
  insets: Partial<Record<(typeof SIDES)[number], unknown>>,
): void {
  for (const side of SIDES) {
    const inset = Number(insets?.[side]);
    if (inset >= 0) document.documentElement.style.setProperty(`--tg-${area}-${side}`, `${inset}px`);
  }
}
