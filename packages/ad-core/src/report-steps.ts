const MAX_STEP_MS = 5000;
/** The quartiles of a three-second clip do not justify a call each. */
const MIN_STEP_MS = 1000;

/** After how much of a video each range is reported: equal steps of at most 5 s, of which each quartile ends one. */
export function reportStepMs(durationMs: number): number {
  const quarterMs = durationMs / 4;
  return Math.max(MIN_STEP_MS, quarterMs / Math.ceil(quarterMs / MAX_STEP_MS));
}

/**
 * The position at which a range is reported if nothing ends it before. A video of 30 s has eight: at 3.75 s, 7.5 s and so on up to
 * its end.
 */
export function reportDueMs(fromMs: number, durationMs: number): number {
  const stepMs = reportStepMs(durationMs);
  return (Math.floor(fromMs / stepMs) + 1) * stepMs;
}
