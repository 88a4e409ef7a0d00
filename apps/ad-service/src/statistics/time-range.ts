import { dayOf, daysLater, offsetOf, startOfDay } from "@intermission/operator-api/days-in-zone";
import type { FieldFault } from "@intermission/operator-api/field-faults";
import { fieldFault } from "@intermission/operator-api/field-forms";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
const MAX_DAYS = { hour: 31, other: 400 };

type TimeRange =
  | { outcome: "range"; from: Date; to: Date }
  | { outcome: "bad-range"; field: "from" | "to"; message: string; fault: FieldFault };

/** The requested period in whole hours of the zone; without bounds the last seven days of the zone, today included. */
export function timeRange(
  bounds: { from?: Date | undefined; to?: Date | undefined },
  by: string,
  now: Date,
  timeZone = "UTC",
): TimeRange {
  const end = bounds.to ?? now;
  // Compared before both are widened to whole hours.
  if (bounds.from !== undefined && bounds.from >= end) {
    const which = bounds.to === undefined ? "now, where no end is named" : bounds.to.toISOString();
    const message = `must be before the end (${which})`;
    return { outcome: "bad-range", field: "from", message, fault: fieldFault("END_BEFORE_START") };
  }
  const to = wholeHour(timeZone, end, Math.ceil);
  const today = dayOf(timeZone, new Date(to.getTime() - 1));
  const weekAgo = startOfDay(timeZone, daysLater(today, 1 - DEFAULT_DAYS));
  const from = bounds.from === undefined ? weekAgo : wholeHour(timeZone, bounds.from, Math.floor);
  const maxDays = by === "hour" ? MAX_DAYS.hour : MAX_DAYS.other;
  if (clockTime(timeZone, to) - clockTime(timeZone, from) > maxDays * DAY_MS) {
    const message = `must be at most ${maxDays} days before the end, by ${by}`;
    return {
      outcome: "bad-range",
      field: "from",
      message,
      fault: fieldFault("PERIOD_TOO_LONG", { days: String(maxDays) }),
    };
  }
  return { outcome: "range", from, to };
}

/** Hours of a zone begin at quarters of an hour of UTC. */
function wholeHour(timeZone: string, at: Date, round: (hours: number) => number): Date {
  return new Date(round(clockTime(timeZone, at) / HOUR_MS) * HOUR_MS - offsetOf(timeZone, at));
}

/** By the zone's clocks, a month is as many days of 24 hours as it has, also where they are set back in it. */
function clockTime(timeZone: string, at: Date): number {
  return at.getTime() + offsetOf(timeZone, at);
}
