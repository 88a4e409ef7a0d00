const STEPS = [5, 30, 120, 600, 1800];
const LAST_STEP = 3600;

/** Seconds from a pending endpoint's failed test to the next: quick at first, then hourly; `jitter` adds up to 20 %. */
export function testDelaySeconds(testsBefore: number, jitter: number): number {
  return (STEPS[testsBefore] ?? LAST_STEP) * (1 + 0.2 * jitter);
}
