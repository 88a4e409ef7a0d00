/** Sets the client's colours as CSS variables `--tg-bg-color` and so on, and marks the page as dark or light. */
export function paintTheme(theme: Readonly<Record<string, string>>): void {
  const { dataset, style } = document.documentElement;
  for (const name in theme) style.setProperty(`--tg-${name.replaceAll("_", "-")}`, theme[name] ?? null);
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
