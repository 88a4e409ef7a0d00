import { LRUCache } from "lru-cache";

export type BoundedCache<Key extends object | string | number, Value extends object | number> = LRUCache<Key, Value>;

/**
 * A cache that evicts the least recently used entry, and whose memory grows with its entries. With the library's `max` it would
 * allocate room for all of them at once: 3 MB and 8 ms for 100 000, at the start of each server and for each of its limiters.
 */
export function boundedCache<Key extends object | string | number, Value extends object | number>(
  maxEntries: number,
  options: { readonly ttl?: number } = {},
): BoundedCache<Key, Value> {
  return new LRUCache<Key, Value>({ ...options, maxSize: maxEntries, sizeCalculation: () => 1 });
}
