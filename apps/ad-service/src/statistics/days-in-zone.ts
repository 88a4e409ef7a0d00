const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What the clocks of a zone show at a moment, as if it was UTC. Making one takes some 0.1 ms. */
type WallClock = (at: Date) => Date;

function wallClockOf(timeZone: string): WallClock {
  const fields = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
  const format = new Intl.DateTimeFormat("en-US", { timeZone, ...fields, second: "2-digit", hourCycle: "h23" });
  return (at) => {
    const parts = format.formatToParts(at);
    const of = (type: string) => Number(parts.find((part) => part.type === type)?.value);
    return new Date(Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second")));
  };
}

const dayShown = (clock: WallClock, at: Date) => clock(at).toISOString().slice(0, 10);

/** The calendar day of a moment in a zone, as `2026-03-01`. */
export function dayOf(timeZone: string, at: Date): string {
  return dayShown(wallClockOf(timeZone), at);
}

/** The day that many days later; earlier for a negative number. */
export function daysLater(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The first moment of a day in a zone. Where clocks skip midnight, it is the moment of the change. */
export function startOfDay(timeZone: string, day: string): Date {
  const clock = wallClockOf(timeZone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // The offset before the day, then the one at the result: they differ on a day on which the clocks change.
  let at = midnight;
  for (let attempt = 0; attempt < 2; attempt++) {
    const offset = clock(new Date(at)).getTime() - at;
    at = midnight - offset;
  }
  while (dayShown(clock, new Date(at)) < day) at += HOUR_MS / 4;
  return new Date(at);
}

/** The days of a zone that a period touches, in order. `to` is exclusive. */
export function daysBetween(timeZone: string, from: Date, to: Date): string[] {
  const clock = wallClockOf(timeZone);
  const last = dayShown(clock, new Date(to.getTime() - 1));
  const days: string[] = [];
  for (let day = dayShown(clock, from); day <= last; day = daysLater(day, 1)) days.push(day);
  return days;
}
