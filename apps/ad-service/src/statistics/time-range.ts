const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 7;
const MOST_DAYS = { hour: 31, other: 400 };

export type TimeRange =
  | { outcome: "range"; from: Date; to: Date }
  | { outcome: "bad-range"; field: "from" | "to"; message: string };

/** The requested period in whole hours, like the sums; without bounds the last seven days, today included. */
export function timeRange(
  given: { from?: string | undefined; to?: string | undefined },
  by: string,
  now: Date,
): TimeRange {
  const to = new Date(Math.ceil((given.to === undefined ? now : new Date(given.to)).getTime() / HOUR_MS) * HOUR_MS);
  const weekAgo = Math.floor((to.getTime() - 1) / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS;
  const start = given.from === undefined ? weekAgo : new Date(given.from).getTime();
  const from = new Date(Math.floor(start / HOUR_MS) * HOUR_MS);
  if (from >= to) return { outcome: "bad-range", field: "from", message: "must be before the end" };
  const most = by === "hour" ? MOST_DAYS.hour : MOST_DAYS.other;
  if (to.getTime() - from.getTime() > most * DAY_MS) {
    return { outcome: "bad-range", field: "from", message: `must be at most ${most} days before the end, by ${by}` };
  }
  return { outcome: "range", from, to };
}
