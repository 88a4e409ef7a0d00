const units: readonly [seconds: number, name: string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** "3 min ago", "in 20 s": a moment relative to `asOf`; undefined for a value that is not a moment. */
export function timeFrom(asOf: Date, moment: unknown): string | undefined {
  if (typeof moment !== "string") return undefined;
  const seconds = Math.round((Date.parse(moment) - asOf.getTime()) / 1000);
  if (Number.isNaN(seconds)) return undefined;
  const distance = Math.abs(seconds);
  const [size, name] = units.find(([size]) => distance >= 2 * size) ?? [1, "s"];
  if (distance === 0) return "now";
  const length = `${Math.floor(distance / size)} ${name}`;
  return seconds < 0 ? `${length} ago` : `in ${length}`;
}

/** Minutes between two moments, with one decimal: columns have one unit. Undefined if one is not a moment. */
export function minutesFrom(from: Date, to: unknown): string | undefined {
  const minutes = typeof to === "string" ? (Date.parse(to) - from.getTime()) / 60_000 : Number.NaN;
  return Number.isNaN(minutes) ? undefined : minutes.toFixed(1);
}
