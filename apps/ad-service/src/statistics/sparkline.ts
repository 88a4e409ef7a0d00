const bars = [..."▁▂▃▄▅▆▇█"];

/** A series of numbers as a line of bars: the highest is full, and zero is a blank. */
export function sparkline(values: readonly number[]): string {
  const highest = Math.max(...values, 0);
  return values
    .map((value) => (value <= 0 ? " " : bars[Math.min(bars.length - 1, Math.floor((value / highest) * bars.length))]))
    .join("");
}
