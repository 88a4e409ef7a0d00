const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_NAMES = "Sun|Mon|Tue|Wed|Thu|Fri|Sat";
const LONG_DAY_NAMES = "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday";
const MONTH = MONTHS.join("|");
const TIME = String.raw`(?<hour>\d{2}):(?<minute>\d{2}):(?<second>\d{2})`;

/** RFC 9110, 5.6.7: the current form, that of RFC 850, and that of C's asctime. All mean UTC. */
const HTTP_DATES = [
  new RegExp(String.raw`^(?:${DAY_NAMES}), (?<day>\d{2}) (?<month>${MONTH}) (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^(?:${LONG_DAY_NAMES}), (?<day>\d{2})-(?<month>${MONTH})-(?<year>\d{2}) ${TIME} GMT$`),
  new RegExp(String.raw`^(?:${DAY_NAMES}) (?<month>${MONTH}) (?<day>\d{2}| \d) ${TIME} (?<year>\d{4})$`),
];

/** Longer than every form: `Wednesday, 31-Dec-99 23:59:59 GMT`, or 15 digits, with some blanks around. */
const MAX_LENGTH = 100;

/**
 * `Retry-After` of RFC 9110, 10.2.3: seconds, or a date in any of its three forms, with blanks around it. Whole seconds
 * from `now`, 0 for a past date; undefined for anything else.
 */
export function retryAfterSeconds(header: string | undefined, now: Date): number | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const value = header.replaceAll(/^[ \t]+|[ \t]+$/g, "");
  if (/^\d{1,15}$/.test(value)) return Number(value);
  const milliseconds = parseHttpDate(value, now);
  if (milliseconds === undefined) return undefined;
  return Math.max(0, Math.ceil((milliseconds - now.getTime()) / 1000));
}

/** Milliseconds since 1970. The name of the day is not compared with the date. */
function parseHttpDate(text: string, now: Date): number | undefined {
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const [day, hour, minute, second] = [parts.day, parts.hour, parts.minute, parts.second].map(Number);
  const month = MONTHS.indexOf(parts.month ?? "");
  if (day === undefined || hour === undefined || minute === undefined || second === undefined) return undefined;
  // 60 is a leap second.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const at = (year: number) => dateOf(year, month, day, { hour, minute, second });
  const year = Number(parts.year);
  return parts.year?.length === 2 ? at(fullYear(year, now, at)) : at(year);
}

/**
 * RFC 9110, 5.6.7: a two-digit year that seems more than 50 years in the future is the most recent past year with these
 * digits. So the year is the latest one that is at most 50 years ahead, and has such a day.
 */
function fullYear(twoDigits: number, now: Date, at: (year: number) => number | undefined): number {
  const limit = new Date(now);
  limit.setUTCFullYear(now.getUTCFullYear() + 50);
  const nextCentury = now.getUTCFullYear() - (now.getUTCFullYear() % 100) + 100;
  const years = [nextCentury, nextCentury - 100].map((century) => century + twoDigits);
  return (
    years.find((year) => (at(year) ?? Number.POSITIVE_INFINITY) <= limit.getTime()) ?? nextCentury - 200 + twoDigits
  );
}

function dateOf(
  year: number,
  month: number,
  day: number,
  { hour, minute, second }: { hour: number; minute: number; second: number },
): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}
