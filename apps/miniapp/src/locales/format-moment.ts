/** A moment as people tell it: the time of day, and the date, too, where that is not today. */
export function formatMoment(moment: Date, now: Date, language: string): string {
  const isToday = moment.toDateString() === now.toDateString();
  return new Intl.DateTimeFormat(language, { timeStyle: "short", ...(!isToday && { dateStyle: "medium" }) }).format(
    moment,
  );
}
