import { LRUCache } from "lru-cache";

/** Whole seconds until the next call is allowed; 0 allows this call and counts it. */
export type CallBudget = (key: string, now: Date) => number;

/**
 * A token bucket for each key, in this process only: it keeps one noisy page from crowding out the others, and protects no
 * money. At most `mostKeys` are remembered; the least recently used one is dropped first.
 */
export function callBudget(limits: { perSecond: number; burst: number; mostKeys: number }): CallBudget {
  const { perSecond, burst, mostKeys } = limits;
  const buckets = new LRUCache<string, { left: number; at: number }>({ max: mostKeys });
  return (key, now) => {
    const at = now.getTime();
    const bucket = buckets.get(key);
    if (bucket === undefined) {
      buckets.set(key, { left: burst - 1, at });
      return 0;
    }
    const refilled = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) / 1000) * perSecond);
    bucket.at = at;
    bucket.left = refilled >= 1 ? refilled - 1 : refilled;
    return refilled >= 1 ? 0 : Math.ceil((1 - refilled) / perSecond);
  };
}
