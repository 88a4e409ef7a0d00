const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** From the end of each failed attempt to the next: 12 attempts over 70 h 42 min. */
const STEPS = [5, 30, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 24 * HOUR];
const LARGEST_JITTER = 0.2;
/** An endpoint may request a delay, but not postpone the schedule for days. */
export const LONGEST_RETRY_AFTER = HOUR;

/**
 * Seconds from the end of a failed attempt to the next, never less than the step; undefined after the last.
 *
 * `jitter` in [0, 1) spreads attempts that failed together over a further 20 %.
 */
export function retryDelaySeconds(failed: {
  /** Failed attempts of the schedule, the last one included: 1 to 12. */
  failures: number;
  jitter: number;
  retryAfterSeconds?: number | undefined;
}): number | undefined {
  const step = STEPS[failed.failures - 1];
  if (step === undefined) return undefined;
  const asked = Math.min(failed.retryAfterSeconds ?? 0, LONGEST_RETRY_AFTER);
  return Math.max(step * (1 + LARGEST_JITTER * failed.jitter), asked);
}
