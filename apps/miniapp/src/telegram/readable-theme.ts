/** The colours of the app that a client's theme decides, each as `#rgb` or `#rrggbb`. */
export interface Palette {
  readonly background: string;
  /** Of groups and pictures on the background. */
  readonly surface: string;
  readonly text: string;
  readonly secondary: string;
  readonly button: string;
  readonly buttonText: string;
  readonly good: string;
  readonly bad: string;
}

type Channels = readonly [number, number, number];

/** WCAG 2.2 AA: for text, and for parts such as the edge of a button. */
const TEXT = 4.5;
const PART = 3;
const STEP = 0.02;
/** The share of the background in secondary texts: Telegram's hint colour often has too little contrast. */
const FADED = 0.26;

const white: Channels = [255, 255, 255];
const black: Channels = [0, 0, 0];

/**
 * Makes a theme readable with the smallest changes. The background stays, since the client's own bars have its colour; any
 * background has enough contrast with black or white. Everything else moves as far as its contrast requires.
 */
export function readablePalette(colours: Omit<Palette, "secondary">): Palette {
  const background = channelsOf(colours.background);
  const text = move(channelsOf(colours.text), [white, black], (colour) => contrast(colour, background) >= TEXT);
  const surface = move(channelsOf(colours.surface), [background], (colour) => contrast(text, colour) >= TEXT);
  const isReadable = (colour: Channels) => contrast(colour, background) >= TEXT && contrast(colour, surface) >= TEXT;
  const readable = (colour: Channels) => move(colour, [text], isReadable);
  const button = readableButton(channelsOf(colours.button), channelsOf(colours.buttonText), background);
  return {
    background: toHex(background),
    surface: toHex(surface),
    text: toHex(text),
    secondary: toHex(readable(mix(text, background, FADED))),
    button: toHex(button.background),
    buttonText: toHex(button.text),
    good: toHex(readable(channelsOf(colours.good))),
    bad: toHex(readable(channelsOf(colours.bad))),
  };
}

/** Keeps the label's colour unless no button of this page can have it. */
function readableButton(button: Channels, text: Channels, page: Channels): { background: Channels; text: Channels } {
  for (const label of [text, contrast(button, white) > contrast(button, black) ? white : black, white, black]) {
    const isReadable = (colour: Channels) => contrast(colour, label) >= TEXT && contrast(colour, page) >= PART;
    const background = move(button, [black, white], isReadable);
    if (isReadable(background)) return { background, text: label };
  }
  return { background: contrast(page, white) > contrast(page, black) ? white : black, text: page };
}

/** Mixes a colour with one of the targets, as little as is enough. The last mixture is the last target itself. */
function move(colour: Channels, targets: readonly Channels[], isEnough: (colour: Channels) => boolean): Channels {
  let mixed = colour;
  for (let share = 0; share <= 1 + STEP; share += STEP) {
    for (const target of targets) {
      mixed = mix(colour, target, Math.min(share, 1));
      if (isEnough(mixed)) return mixed;
    }
  }
  return mixed;
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
