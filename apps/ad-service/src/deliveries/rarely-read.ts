const LEAST_MS = 5000;
/** Reading takes at most this share of the time, however slow it gets. */
const MOST_OF_THE_TIME = 0.02;

/** Reads at most every five seconds, and less often if reading is slow. Calls in between get the last result. */
export function rarelyRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<Value> | undefined;
  let freshUntil = 0;
  return () => {
    if (last !== undefined && performance.now() < freshUntil) return last;
    const startedAt = performance.now();
    freshUntil = Number.POSITIVE_INFINITY;
    last = read().finally(() => {
      const tookMs = performance.now() - startedAt;
      freshUntil = performance.now() + Math.max(LEAST_MS, tookMs / MOST_OF_THE_TIME);
    });
    return last;
  };
}
