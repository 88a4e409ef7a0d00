/** Whole seconds until the next call may come; 0 lets this one pass. */
export type CallBudget = (key: string, now: Date) => number;

/**
 * A token bucket for each key, in this process alone: it keeps one noisy page from crowding out the others, and decides
 * no money. At most `mostKeys` are remembered; the one that was quiet for longest is forgotten first.
 */
export function callBudget(limits: { perSecond: number; burst: number; mostKeys: number }): CallBudget {
  const { perSecond, burst, mostKeys } = limits;
  const buckets = new Map<string, { left: number; at: number }>();
  return (key, now) => {
    const at = now.getTime();
    const bucket = buckets.get(key) ?? { left: burst, at };
    const refilled = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) / 1000) * perSecond);
    const passes = refilled >= 1;
    // Set anew, so that the map's order is the order of the last calls.
    buckets.delete(key);
    buckets.set(key, { left: passes ? refilled - 1 : refilled, at });
    // Asked only then: the first key of a map from which many were deleted takes long to find.
    if (buckets.size > mostKeys) buckets.delete(buckets.keys().next().value ?? key);
    return passes ? 0 : Math.ceil((1 - refilled) / perSecond);
  };
}
