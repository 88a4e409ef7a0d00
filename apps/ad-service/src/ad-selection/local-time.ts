import { BoundedCache } from "@intermission/server/bounded-cache";

/** Hour (0–23) and weekday (1 is Monday). */
interface LocalTime {
  readonly hour: number;
  readonly weekday: number;
}

/** What this node knows of time zones: their clocks, since making one takes some 0.1 ms, and what these showed last. */
export interface LocalTimes {
  readonly clocks: BoundedCache<string, Intl.DateTimeFormat>;
  readonly known: BoundedCache<string, LocalTime & { readonly until: number }>;
}

const MAX_ZONES = 1000;

export function openLocalTimes(): LocalTimes {
  return { clocks: new BoundedCache(MAX_ZONES), known: new BoundedCache(MAX_ZONES) };
}

/** No zone's offset changes within a quarter of an hour. */
const KEPT_MS = 900_000;
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

export function localTime({ clocks, known }: LocalTimes, timeZone: string, now: Date): LocalTime {
  const at = now.getTime();
  const last = known.get(timeZone);
  if (last && at < last.until && at >= last.until - KEPT_MS) return last;
  const options = { timeZone, hour: "2-digit", hourCycle: "h23", weekday: "short" } as const;
  const clock = clocks.get(timeZone) ?? new Intl.DateTimeFormat("en-US", options);
  clocks.set(timeZone, clock);
  const parts = clock.formatToParts(now);
  const text = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  const until = (Math.floor(at / KEPT_MS) + 1) * KEPT_MS;
  const found = { hour: Number(text("hour")), weekday: weekdays.indexOf(text("weekday")) + 1, until };
  known.set(timeZone, found);
  return found;
}
