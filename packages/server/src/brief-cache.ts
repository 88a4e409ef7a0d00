import { LRUCache } from "lru-cache";

export interface BriefCache<Value> {
  get(key: string): Promise<Value | undefined>;
  forget(key: string): void;
  clear(): void;
}

/**
 * Caches loaded values briefly, so that a busy bot costs one query per second instead of one per request. Concurrent
 * requests share one load, and the age counts from its start, because the data may change while it runs. Missing values
 * and failures are not cached, and the least recently used entries are evicted, so guessed keys cannot fill the cache.
 */
export function briefCache<Value>(options: {
  load: (key: string) => Promise<Value | undefined>;
  maxAgeMs: number;
  maxEntries: number;
}): BriefCache<Value> {
  const { load, maxAgeMs, maxEntries } = options;
  const loads = new LRUCache<string, Promise<Value | undefined>>({ max: maxEntries, ttl: maxAgeMs });

  return {
    get(key) {
      const known = loads.get(key);
      if (known !== undefined) return known;
      const loading = load(key);
      loads.set(key, loading);
      const drop = () => {
        if (loads.peek(key) === loading) loads.delete(key);
      };
      loading.then((value) => value === undefined && drop(), drop);
      return loading;
    },
    forget(key) {
      loads.delete(key);
    },
    clear() {
      loads.clear();
    },
  };
}
