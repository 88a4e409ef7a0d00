export interface BriefCache<Value> {
  get(key: string): Promise<Value | undefined>;
  forget(key: string): void;
  clear(): void;
}

/**
 * Remembers what was loaded for a moment, so that a busy bot costs one query a second and not one a request. Requests
 * that meet share one load. What does not exist is not remembered, and the oldest entries make room: nobody can fill it
 * with guesses.
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
      // Aged from the start of its load: what changed meanwhile must not count as fresh.
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
