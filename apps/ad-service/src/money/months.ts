/** A month (UTC) as `2026-03`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, 7);
}

export function monthAfter(month: string): string {
  return monthOf(endOfMonth(month));
}

/** The last one that is over. */
export function monthBefore(now: Date): string {
  return monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1)));
}

/** Exclusive: the first moment of the next month. */
export function endOfMonth(month: string): Date {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 1));
}
