/** Below this a duration is said in seconds, as its limits are. */
const MIN_PARTS_SECONDS = 600;

/** A duration as people say it: `4.5 s`, and `3 h` or `1 h 5 min` instead of `10800.0 s`. */
export function durationText(seconds: number, units: { h: string; min: string; s: string }): string {
  if (seconds < MIN_PARTS_SECONDS) return `${Math.round(seconds * 10) / 10} ${units.s}`;
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 3600), units.h],
    [Math.floor(whole / 60) % 60, units.min],
    [whole % 60, units.s],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

export const durationInEnglish = (seconds: number): string => durationText(seconds, { h: "h", min: "min", s: "s" });
