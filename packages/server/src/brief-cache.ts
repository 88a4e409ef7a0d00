import { LRUCache } from "lru-cache";

export interface BriefCache<Value, Key = string> {
  get(key: Key): Promise<Value | undefined>;
  forget(key: Key): void;
  clear(): void;
}

/**
 * Caches loaded values briefly, so that a busy bot costs one query per second instead of one per request. Concurrent
 * requests share one load, and the age counts from its start, because the data may change while it runs. Missing values
 * and failures are not cached, and the least recently used entries are evicted, so guessed keys cannot fill the cache.
 */
export function briefCache<Value, Key = string>(options: {
  load: (key: Key) => Promise<Value | undefined>;
  /** For keys of several parts: different texts for different keys. */
  textOf?: (key: Key) => string;
  maxAgeMs: number;
  maxEntries: number;
}): BriefCache<Value, Key> {
  const { load, textOf = String, maxAgeMs, maxEntries } = options;
  // With `max` in place of the sizes, it would allocate room for all entries at the start of each server.
  const loads = new LRUCache<string, Promise<Value | undefined>>({
    ttl: maxAgeMs,
    maxSize: maxEntries,
    sizeCalculation: () => 1,
  });

  return {
    get(key) {
      const text = textOf(key);
      const known = loads.get(text);
      if (known !== undefined) return known;
      const loading = load(key);
      loads.set(text, loading);
      const drop = () => {
        if (loads.peek(text) === loading) loads.delete(text);
      };
      loading.then((value) => value === undefined && drop(), drop);
      return loading;
    },
    forget(key) {
      loads.delete(textOf(key));
    },
    clear() {
      loads.clear();
    },
  };
}
