import { bindNumbers } from "./translate.ts";

/**
 * Formats a duration in words: "10 hours, 5 minutes", "4 minutes, 59 seconds". Gives the texts of `Intl.DurationFormat`, which
 * is made of the same two formats but missing in web views before 2024. The words are in the nominative, so texts of
 * languages with cases put them after a colon. iOS before 14.5 has neither format and gets digits: "10:05:00", "4:59".
 */
export function formatDuration(milliseconds: number, language: string): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const minutes = Math.ceil(seconds / 60);
  const parts: [value: number, unit: keyof typeof uzbekUnits][] =
    seconds < 3600
      ? [
          [Math.floor(seconds / 60), "minute"],
          [seconds % 60, "second"],
        ]
      : [
          [Math.floor(minutes / 60), "hour"],
          [minutes % 60, "minute"],
        ];
  const some = parts.filter(([value]) => value > 0);
  const shown = some.length > 0 ? some : parts.slice(1);
  if (language === "uz") return bindNumbers(shown.map(([value, unit]) => `${value} ${uzbekUnits[unit]}`).join(" "));
  if (!("ListFormat" in Intl)) return digits(seconds);
  const words = shown.map(([value, unit]) =>
    new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(value),
  );
  return bindNumbers(new Intl.ListFormat(language, { type: "unit", style: "short" }).format(words));
}

/** Chromium has no data of Uzbek: its units are English, and a date is "M01 1". */
const uzbekUnits = { hour: "soat", minute: "daqiqa", second: "soniya" };
const uzbekMonths = "yan fev mar apr may iyn iyl avg sen okt noy dek".split(" ");

function digits(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first, ...rest] = seconds < 3600 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, "0"))].join(":");
}

/** Formats the time of day, with the date if it is not today. */
export function formatMoment(moment: Date, now: Date, language: string): string {
  const isToday = isSameDay(moment, now);
  if (!isToday && language === "uz") {
    const day = `${moment.getDate()}-${uzbekMonths[moment.getMonth()]}`;
    return `${day}, ${moment.getHours()}:${String(moment.getMinutes()).padStart(2, "0")}`;
  }
  const options: Intl.DateTimeFormatOptions = isToday
    ? { timeStyle: "short" }
    : { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" };
  return bindNumbers(new Intl.DateTimeFormat(language, options).format(moment));
}

/** In this device's time zone. */
export function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
