const LEAST_MS = 5000;
/** However slow the reading gets, it takes so much of the time at most. */
const MOST_OF_THE_TIME = 0.02;

/** Reads at most each five seconds, and more rarely where reading is slow; who asks in between gets what was read last. */
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
