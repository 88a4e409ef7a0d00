const MINUTE_MS = 60_000;
/** By how much clocks are set back: half an hour on Lord Howe Island, else an hour or two. */
const SET_BACK_MS = [30, 60, 120].map((minutes) => minutes * MINUTE_MS);

/** A moment in the reader's time zone, as `<input type="datetime-local">` has it; empty: none. */
export function toLocalInput(at: Date | null): string {
  if (at === null) return "";
  const local = new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS);
  return local.toISOString().slice(0, 16);
}

/** What a text of `<input type="datetime-local">` means in the reader's time zone. */
interface LocalTime {
  /** Null: the text is empty. */
  at: Date | null;
  /** Clocks are set back, so the text means two moments, of which `at` is the first. */
  isTwice: boolean;
}

/** Undefined: clocks are set forward over it, or it is no time at all. */
export function readLocalTime(text: string): LocalTime | undefined {
  if (text === "") return { at: null, isTwice: false };
  const at = new Date(text);
  // A time that is skipped is read as a later one. Seconds are kept.
  if (Number.isNaN(at.getTime()) || toLocalInput(at) !== text.slice(0, 16)) return undefined;
  const isTwice = SET_BACK_MS.some((ms) => toLocalInput(new Date(at.getTime() + ms)) === toLocalInput(at));
  return { at, isTwice };
}

/** No time at all: what a field holds in which a part of the day or the time is missing, and whose own value is empty then. */
const UNFINISHED = "--T--:--";

/** What is typed into `<input type="datetime-local">`, as `readLocalTime` reads it. */
export function typedLocalTime({
  value,
  validity,
}: {
  value: string;
  validity: Pick<ValidityState, "badInput">;
}): string {
  return value === "" && validity.badInput ? UNFINISHED : value;
}

/** What such a field shows, and a draft keeps, of its text. */
export function shownLocalTime(text: string): string {
  return text === UNFINISHED ? "" : text;
}

/** The moment as RFC 3339; null: there is none. */
export function fromLocalInput(text: string): string | null {
  return readLocalTime(text)?.at?.toISOString() ?? null;
}
