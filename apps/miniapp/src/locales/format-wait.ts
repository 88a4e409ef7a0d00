/** Formats a wait as a clock with the language's digits: `0:09`, `12:30`, `1:05:00`. Padded, so the countdown does not jump. */
export function formatWait(milliseconds: number, language: string): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first, ...others] = hours > 0 ? [hours, minutes, rest] : [minutes, rest];
  const digits = (value = 0, minimumIntegerDigits = 1) =>
    new Intl.NumberFormat(language, { minimumIntegerDigits, useGrouping: false }).format(value);
  return [digits(first), ...others.map((value) => digits(value, 2))].join(":");
}
