import { expect, test } from "vitest";
import { boundedCache } from "./bounded-cache.ts";

test("an empty cache takes no memory for entries that may come", () => {
  const bytes = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  const before = bytes();
  const caches = Array.from({ length: 100 }, () => boundedCache<string, number>(100_000));
  // With room for all entries: more than 160 MB.
  expect(bytes() - before).toBeLessThan(20_000_000);
  expect(caches).toHaveLength(100);
});

test("the least recently used entry is evicted, and never more than that", () => {
  const cache = boundedCache<string, number>(3);
  for (const [index, key] of ["a", "b", "c"].entries()) cache.set(key, index);
  cache.get("a");
  cache.set("d", 3);
  cache.set("a", 4);
  expect([...cache.entries()]).toEqual([
    ["a", 4],
    ["d", 3],
    ["c", 2],
  ]);
});

test("an entry expires by its time to live", async () => {
  const cache = boundedCache<string, number>(3, { ttl: 1 });
  cache.set("a", 1);
  await expect.poll(() => cache.get("a")).toBeUndefined();
});
