type Channels = readonly [number, number, number];

/** WCAG 2.2 AA for text of this size. */
const ENOUGH = 4.5;

/**
 * Returns readable button colours. Several of Telegram's own pairs (white on #2481cc) do not have enough contrast for text:
 * the background is then moved towards black, or towards white under dark text, as little as necessary.
 */
export function readableButton(background: string, text: string): { background: string; text: string } {
  const [back, front] = [channelsOf(background), channelsOf(text)];
  const target: Channels = luminance(front) > luminance(back) ? [0, 0, 0] : [255, 255, 255];
  for (let share = 0; share <= 1; share += 0.02) {
    const mixed = mix(back, target, share);
    if (contrast(mixed, front) >= ENOUGH) return { background: toHex(mixed), text: toHex(front) };
  }
  return { background: toHex(target), text: target[0] === 0 ? "#ffffff" : "#000000" };
}

/** From 1 (equal) to 21 (black and white). */
export function contrastOf(one: string, other: string): number {
  return contrast(channelsOf(one), channelsOf(other));
}

function contrast(one: Channels, other: Channels): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** WCAG's relative luminance. */
function luminance([red, green, blue]: Channels): number {
  const linear = (value: number) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function channelsOf(colour: string): Channels {
  const digits = colour.length === 4 ? colour.replace(/[\da-f]/gi, "$&$&") : colour;
  const channel = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16) || 0;
  return [channel(1), channel(3), channel(5)];
}

function mix(from: Channels, to: Channels, share: number): Channels {
  const channel = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share);
  return [channel(0), channel(1), channel(2)];
}

function toHex(channels: Channels): string {
  return `#${channels.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
