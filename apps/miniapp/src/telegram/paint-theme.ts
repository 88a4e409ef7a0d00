import { type Palette, readablePalette } from "./readable-theme.ts";

/** A client's colours by their names in the launch data, as `#rgb` or `#rrggbb`. */
type Theme = Readonly<Record<string, string>>;

/** The first paint, before the app's files arrive: background and text, if both are given. Small enough to be inlined. */
export function paintFirstColours({ bg_color: background, text_color: text }: Theme): void {
  if (background && text) document.documentElement.style.cssText = `--bg:${background};--text:${text}`;
}

const variables = {
  background: "--bg",
  surface: "--surface",
  text: "--text",
  secondary: "--secondary",
  button: "--button",
  buttonText: "--button-text",
  good: "--good",
  bad: "--bad",
} as const satisfies Record<keyof Palette, string>;

/**
 * Replaces the colours of an earlier theme by those of this one, corrected so that everything can be read, and marks the page
 * as dark or light. Colours that the theme does not name are the app's own.
 */
export function paintTheme(theme: Theme): void {
  const root = document.documentElement;
  const { dataset, style } = root;
  for (const variable of Object.values(variables)) style.removeProperty(variable);
  delete dataset.scheme;
  style.colorScheme = "";
  // Without the client's colours the style sheet follows the system, also when that changes.
  if (Object.keys(theme).length === 0) return;
  const { bg_color: background, text_color: text } = theme;
  const scheme = background ? schemeOf(background) : text && opposite[schemeOf(text)];
  if (scheme) dataset.scheme = style.colorScheme = scheme;

  const own = getComputedStyle(root);
  const ours = (name: keyof Palette) => own.getPropertyValue(variables[name]).trim();
  const palette = readablePalette({
    background: background ?? ours("background"),
    surface: theme.secondary_bg_color ?? ours("surface"),
    text: text ?? ours("text"),
    button: theme.button_color ?? ours("button"),
    buttonText: theme.button_text_color ?? ours("buttonText"),
    good: ours("good"),
    bad: ours("bad"),
  });
  for (const [name, colour] of Object.entries(palette)) style.setProperty(variables[name as keyof Palette], colour);
}

const opposite = { light: "dark", dark: "light" } as const;

function schemeOf(colour: string): "light" | "dark" {
  // The first hex digits of red, green and blue, for both "#rgb" and "#rrggbb".
  const step = colour.length > 4 ? 2 : 1;
  const [red = 0, green = 0, blue = 0] = [1, 1 + step, 1 + 2 * step].map((at) =>
    Number.parseInt(colour.charAt(at), 16),
  );
  return red * 3 + green * 6 + blue < 75 ? "dark" : "light";
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
