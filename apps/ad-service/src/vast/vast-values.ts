/** Longer than any video: larger values are cut to this one. */
const MOST_SECONDS = 999_999;
const CLOCK = /^(\d{1,2}):([0-5]?\d):([0-5]?\d)(?:\.(\d{1,9}))?$/;
const SECONDS = /^\d{1,6}(?:\.\d{1,9})?$/;
const LARGEST_NUMBER = 1_000_000;

/** `HH:MM:SS.mmm`, or plain seconds, which some ad servers write; undefined if it is no valid time of a clock. */
export function durationMsOf(text: string): number | undefined {
  const clock = CLOCK.exec(text);
  if (clock) {
    const [, hours, minutes, seconds, fraction = "0"] = clock;
    const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
    return Math.round((whole + Number(`0.${fraction}`)) * 1000);
  }
  if (!SECONDS.test(text)) return undefined;
  return Math.round(Math.min(Number(text), MOST_SECONDS) * 1000);
}

/** A count of pixels or of kbit/s, from its leading digits; 0 if there is no plausible one. */
export function numberOf(text: string | undefined): number {
  const number = Number(/^\s*(\d{1,9})(?!\d)/.exec(text ?? "")?.[1] ?? 0);
  return number <= LARGEST_NUMBER ? number : 0;
}

/** XML's booleans, in the spellings that ad servers use. */
export function isTrue(text: string): boolean {
  return ["true", "TRUE", "True", "1"].includes(text);
}
