/** One caption with the times between which it is shown. */
export interface CaptionCue {
  fromMs: number;
  toMs: number;
  /** Plain text without markup; lines are separated by `\n`. */
  text: string;
}

const TIME = String.raw`(?:(\d{2,3}):)?([0-5]\d):([0-5]\d)\.(\d{3})`;
const TIMING = new RegExp(String.raw`^\s*${TIME}\s+-->\s+${TIME}(?:\s|$)`);
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  nbsp: "\u00a0",
  lrm: "\u200e",
  rlm: "\u200f",
};

/**
 * The cues of a WebVTT file (https://www.w3.org/TR/webvtt1/), in the order of the file. `faultyLine`: the first malformed
 * timing line, counted from 1. Never throws.
 */
export function parseCaptions(file: string): { cues: CaptionCue[]; faultyLine?: number } {
  const cues: CaptionCue[] = [];
  let faultyLine: number | undefined;
  let current: CaptionCue | undefined;
  for (const [index, line] of file.split(/\r\n|\n|\r/).entries()) {
    if (line.includes("-->")) {
      current = cueAt(line);
      if (current) cues.push(current);
      else faultyLine ??= index + 1;
    } else if (line === "") current = undefined;
    else if (current) current.text += `${current.text && "\n"}${plain(line)}`;
  }
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

function plain(line: string): string {
  return line.replace(/<[^<>]*>/g, "").replace(/&(\w+);/g, (whole, name: string) => CHARACTERS[name] ?? whole);
}
