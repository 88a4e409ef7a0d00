const DAY_MS = 86_400_000;

/** What the clocks of a zone show at a moment, as if it was UTC. */
type WallClock = (at: Date) => Date;

/** Making one takes some 0.1 ms, and a report by hour asks thousands of times. */
const clocks = new Map<string, WallClock>();
/** There are fewer zones, but a name may be written in any case. */
const MAX_CLOCKS = 1000;

function wallClockOf(timeZone: string): WallClock {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  if (clocks.size >= MAX_CLOCKS) clocks.clear();
  const made = newWallClock(timeZone);
  clocks.set(timeZone, made);
  return made;
}

function newWallClock(timeZone: string): WallClock {
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

const offsetShown = (clock: WallClock, at: Date) => clock(at).getTime() - Math.floor(at.getTime() / 1000) * 1000;

/** How far the clocks of a zone are from UTC at a moment, in milliseconds; positive to the east. */
export function offsetOf(timeZone: string, at: Date): number {
  return timeZone === "UTC" ? 0 : offsetShown(wallClockOf(timeZone), at);
}

/** Offsets are whole quarters of an hour. */
const QUARTER_MS = 900_000;
/** No zone is further from UTC. */
const MAX_OFFSET_MS = 15 * 3_600_000;

/** The first moment of a day in a zone. Where clocks skip midnight, it is the moment of the change. */
export function startOfDay(timeZone: string, day: string): Date {
  const clock = wallClockOf(timeZone);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  // The clocks of the day before, and those of the day, show midnight at different moments if they change between.
  const offsets = [midnight - MAX_OFFSET_MS, midnight + MAX_OFFSET_MS].map((at) => offsetShown(clock, new Date(at)));
  let at = midnight - Math.max(...offsets);
  while (dayShown(clock, new Date(at)) < day) at += QUARTER_MS;
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

/** The hour of a zone with its offset, as `2026-03-01T10:00:00+03:30`; of UTC with `Z`. */
export function hourOf(timeZone: string, at: Date): string {
  const offset = offsetOf(timeZone, at);
  const local = new Date(at.getTime() + offset).toISOString().slice(0, 13);
  return `${local}:00:00${timeZone === "UTC" ? "Z" : offsetText(offset)}`;
}

function offsetText(offset: number): string {
  const minutes = Math.abs(offset) / 60_000;
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  return `${offset < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** The hours of a zone that a period touches, in order. Its bounds are quarters of an hour. */
export function hoursBetween(timeZone: string, from: Date, to: Date): string[] {
  const hours = new Set<string>();
  for (let at = from.getTime(); at < to.getTime(); at += QUARTER_MS) hours.add(hourOf(timeZone, new Date(at)));
  return [...hours];
}
