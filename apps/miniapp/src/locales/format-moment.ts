/** Formats the time of day, with the date if it is not today. */
export function formatMoment(moment: Date, now: Date, language: string): string {
  const options: Intl.DateTimeFormatOptions = isSameDay(moment, now)
    ? { timeStyle: "short" }
    : { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" };
  return new Intl.DateTimeFormat(language, options).format(moment);
}

/** In this device's time zone. */
export function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
