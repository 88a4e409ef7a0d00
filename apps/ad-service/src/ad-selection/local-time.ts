const HOUR_MS = 3_600_000;
const known = new Map<string, { hour: number; weekday: number; until: number }>();
const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_ZONES = 1000;

/** Hour (0–23) and weekday (1 is Monday) in a time zone. Cached per quarter of an hour: no zone's offset changes within one. */
export function localTime(timeZone: string, now: Date): { hour: number; weekday: number } {
  const at = now.getTime();
  const before = known.get(timeZone);
  if (before && at < before.until && at >= before.until - HOUR_MS / 4) return before;
  const parts = formatOf(timeZone).formatToParts(now);
  const text = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  const weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].indexOf(text("weekday")) + 1;
  const until = (Math.floor(at / (HOUR_MS / 4)) + 1) * (HOUR_MS / 4);
  const found = { hour: Number(text("hour")), weekday, until };
  if (known.size >= MOST_ZONES) known.clear();
  known.set(timeZone, found);
  return found;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", { timeZone, hour: "2-digit", hourCycle: "h23", weekday: "short" });
    if (formats.size >= MOST_ZONES) formats.clear();
    formats.set(timeZone, format);
  }
  return format;
}
