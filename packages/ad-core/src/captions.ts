/** One caption with the times between which it is shown. */
export interface CaptionCue {
  fromMs: number;
  toMs: number;
  /** Plain text without markup; lines are separated by `\n`. */
  text: string;
}

const TIME = String.raw`(?:(\d{2,6}):)?([0-5]\d):([0-5]\d)\.(\d{3})`;
const TIMING = new RegExp(String.raw`^\s*${TIME}\s+-->\s+${TIME}(?:\s|$)`);
/** `<00:01.500>`: when the words after it are spoken. */
const MOMENT = /<[\d:.]+>/g;
/** `<v Ann>`, `</i>`, `<c.loud>`. A `<` that begins no tag is text, as in `1 < 2`. */
const TAG = /<(?:\/?[a-z][^<>]*|\/?)>/gi;
const READING = /<rt(?:[.\s][^<>]*)?>([^<]*)(?:<\/rt>)?/gi;
/** The references that WebVTT files need, and quotes, which converters write. */
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  lrm: "\u200e",
  rlm: "\u200f",
};

interface ParsedCaptions {
  cues: CaptionCue[];
  /** The first malformed timing line, counted from 1. */
  faultyLine?: number;
}

/**
 * The cues of a WebVTT file (https://www.w3.org/TR/webvtt1/), in the order of the file. Resolves character references of
 * numbers and of the names that WebVTT files need. Never throws.
 */
export function parseCaptions(file: string): ParsedCaptions {
  return parseCues(file, (text) => decodeReferences(text.replace(TAG, "")));
}

/** The same for a page, whose browser makes plain text of a cue's HTML tags and character references. */
export function parseCues(file: string, plain: (text: string) => string): ParsedCaptions {
  const cues: CaptionCue[] = [];
  let faultyLine: number | undefined;
  let current: CaptionCue | undefined;
  for (const [index, line] of file.split(/\r\n|\n|\r/).entries()) {
    if (line.includes("-->")) {
      current = cueAt(line);
      if (current) cues.push(current);
      else faultyLine ??= index + 1;
    } else if (line === "") current = undefined;
    else if (current) current.text += `${current.text && "\n"}${line}`;
  }
  // The reading of a ruby follows its base in brackets.
  for (const cue of cues) cue.text = plain(cue.text.replace(MOMENT, "").replace(READING, "($1)"));
  return { cues, ...(faultyLine !== undefined && { faultyLine }) };
}

function cueAt(line: string): CaptionCue | undefined {
  const parts = TIMING.exec(line);
  if (!parts) return undefined;
  const fromMs = timeOf(parts.slice(1, 5));
  const toMs = timeOf(parts.slice(5, 9));
  return fromMs < toMs ? { fromMs, toMs, text: "" } : undefined;
}

function timeOf([hours = "0", minutes, seconds, milliseconds]: (string | undefined)[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(milliseconds);
}

function decodeReferences(text: string): string {
  return text.replace(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]+));?/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return CHARACTERS[name] ?? whole;
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isCharacter = point > 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return isCharacter ? String.fromCodePoint(point) : "\ufffd";
  });
}
