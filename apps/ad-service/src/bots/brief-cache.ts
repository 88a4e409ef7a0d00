export interface BriefCache<Value> {
  get(key: string): Promise<Value | undefined>;
  forget(key: string): void;
  clear(): void;
}

/**
 * Caches loaded values briefly, so that a busy bot costs one query per second instead of one per request. Concurrent
 * requests share one load. Missing values are not cached, and the oldest entries are evicted, so guessed keys cannot
 * fill the cache.
 */
export function briefCache<Value>(options: {
  load: (key: string) => Promise<Value | undefined>;
  maxAgeMs: number;
  maxEntries: number;
}): BriefCache<Value> {
  const { load, maxAgeMs, maxEntries } = options;
  const entries = new Map<string, { loading: Promise<Value | undefined>; loadedAt: number }>();

  return {
    get(key) {
      const known = entries.get(key);
      if (known && performance.now() - known.loadedAt < maxAgeMs) return known.loading;
      // The age counts from the start of the load, because the data may change while it runs.
      const entry = { loading: load(key), loadedAt: performance.now() };
      entries.delete(key);
      entries.set(key, entry);
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value ?? key);
      const drop = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      entry.loading.then((value) => value === undefined && drop(), drop);
      return entry.loading;
    },
    forget(key) {
      entries.delete(key);
    },
    clear() {
      entries.clear();
    },
  };
}
