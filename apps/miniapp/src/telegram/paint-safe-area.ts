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
