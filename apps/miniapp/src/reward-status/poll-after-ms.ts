/** When to ask again, by how long we have been asking: a reward usually takes a second or two, and a stuck one hours. */
export function pollAfterMs(waitedMs: number): number {
  if (waitedMs < 10_000) return 1000;
  return waitedMs < 60_000 ? 3000 : 15_000;
}
