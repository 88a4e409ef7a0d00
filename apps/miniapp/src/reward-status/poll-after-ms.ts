/** A reward usually takes a few hundred milliseconds. */
const FIRST_POLLS_MS = [150, 300, 600];

/** The next polling delay by the time waited so far: soon at first, slower for a reward that is stuck, which takes hours. */
export function pollAfterMs(waitedMs: number): number {
  const next = FIRST_POLLS_MS.find((atMs) => atMs > waitedMs);
  if (next !== undefined) return Math.max(next - waitedMs, 50);
  if (waitedMs < 10_000) return 1000;
  return waitedMs < 60_000 ? 3000 : 15_000;
}
