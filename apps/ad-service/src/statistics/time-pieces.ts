import { dayOf, daysBetween, daysLater, hourOf, startOfDay } from "@intermission/operator-api/days-in-zone";
import type { Comparison } from "@intermission/operator-api/report-figures";

const QUARTER_MS = 900_000;

/** The sums exist for quarters of an hour, hours, six hours and days of UTC: `stats_sums.span`. */
type Span = "quarter" | "hour" | "six-hours" | "day";

const lengthOf = {
  day: 96 * QUARTER_MS,
  "six-hours": 24 * QUARTER_MS,
  hour: 4 * QUARTER_MS,
  quarter: QUARTER_MS,
} satisfies Record<Span, number>;
/** What the ends of a period are made of that are shorter than the span. */
const nextSmaller = { day: "six-hours", "six-hours": "hour", hour: "quarter", quarter: undefined } satisfies Record<
  Span,
  Span | undefined
>;

/** A part of a report: a day or an hour of a zone, or the whole period. `from` is included, `to` excluded. */
export interface Bucket {
  key: string;
  from: Date;
  to: Date;
}

/** Sums of one span that make up a bucket, or a part of it. */
interface TimePiece extends Bucket {
  span: Span;
}

/** How a report is split in time: by days or hours of a zone, or not at all. */
export type TimeDimension = "day" | "hour";

/** The parts of a period in order. Its bounds are quarters of an hour, as every zone's days and hours are since 2000. */
export function bucketsOf(
  { from, to }: { from: Date; to: Date },
  by: TimeDimension | undefined,
  timeZone: string,
): Bucket[] {
  if (by === undefined) return [{ key: "", from, to }];
  if (by === "day") {
    return daysBetween(timeZone, from, to).map((day) => ({
      key: day,
      from: later(from, startOfDay(timeZone, day)),
      to: earlier(to, startOfDay(timeZone, daysLater(day, 1))),
    }));
  }
  const hours: Bucket[] = [];
  for (let at = from.getTime(); at < to.getTime(); at += QUARTER_MS) {
    const key = hourOf(timeZone, new Date(at));
    const last = hours.at(-1);
    const end = new Date(at + QUARTER_MS);
    if (last?.key === key) last.to = end;
    else hours.push({ key, from: new Date(at), to: end });
  }
  return hours;
}

/** The largest sums that make up the buckets exactly: days of UTC in the middle, shorter spans at the ends. */
export function piecesOf(buckets: readonly Bucket[]): TimePiece[] {
  return buckets.flatMap(({ key, from, to }) =>
    piecesBetween(from.getTime(), to.getTime(), "day").map((piece) => ({ key, ...piece })),
  );
}

function piecesBetween(from: number, to: number, span: Span): Omit<TimePiece, "key">[] {
  if (from >= to) return [];
  const length = lengthOf[span];
  const first = Math.ceil(from / length) * length;
  const last = Math.floor(to / length) * length;
  const smaller = nextSmaller[span];
  if (smaller === undefined) return [{ span, from: new Date(from), to: new Date(to) }];
  if (first >= last) return piecesBetween(from, to, smaller);
  const whole = { span, from: new Date(first), to: new Date(last) };
  return [...piecesBetween(from, first, smaller), whole, ...piecesBetween(last, to, smaller)];
}

const DAY_MS = lengthOf.day;

/** Whole days of the zone are moved by days, so that their number is the same, also where clocks change. */
export function rangeBefore(
  { from, to }: { from: Date; to: Date },
  comparison: Comparison,
  timeZone: string,
): { from: Date; to: Date } {
  const days = daysBetween(timeZone, from, to).length;
  const isOfWholeDays = isStartOfDay(timeZone, from) && isStartOfDay(timeZone, to);
  if (comparison === "previous" && !isOfWholeDays) {
    return { from: new Date(2 * from.getTime() - to.getTime()), to: from };
  }
  const shifts: Record<Comparison, number> = { previous: days, weekdays: 7 * Math.ceil(days / 7) };
  const shift = shifts[comparison];
  return { from: daysEarlier(timeZone, from, shift), to: daysEarlier(timeZone, to, shift) };
}

function isStartOfDay(timeZone: string, at: Date): boolean {
  return startOfDay(timeZone, dayOf(timeZone, at)).getTime() === at.getTime();
}

/** The same time after the start of the day, that many days before. */
function daysEarlier(timeZone: string, at: Date, days: number): Date {
  const day = dayOf(timeZone, at);
  const sinceStart = Math.min(at.getTime() - startOfDay(timeZone, day).getTime(), DAY_MS);
  return new Date(startOfDay(timeZone, daysLater(day, -days)).getTime() + sinceStart);
}

function later(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
