/** The next polling delay by the time waited so far: a reward usually takes a second or two, a stuck one takes hours. */
export function pollAfterMs(waitedMs: number): number {
  if (waitedMs < 10_000) return 1000;
  return waitedMs < 60_000 ? 3000 : 15_000;
}
