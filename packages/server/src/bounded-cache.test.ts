import { expect, test } from "vitest";
import { BoundedCache } from "./bounded-cache.ts";

test("the entries that were used last are kept, half as many as it may have, and never more than those", () => {
  const cache = new BoundedCache<string, number>(4);
  for (const [index, key] of ["a", "b", "c"].entries()) cache.set(key, index);
  expect(cache.get("a")).toBe(0);
  cache.set("d", 3);
  expect([...cache.values()]).toEqual([3, 2, 0]);
  cache.set("a", 4);
  cache.set("e", 5);
  expect([cache.get("a"), cache.get("e")]).toEqual([4, 5]);
  expect([...cache.values()]).toEqual([5, 4, 3]);
});

test("an entry that was removed is in neither generation", () => {
  const cache = new BoundedCache<string, number>(4);
  for (const key of ["a", "b", "c", "a"]) cache.set(key, 1);
  cache.delete("a");
  expect(cache.get("a")).toBeUndefined();
  expect([...cache.values()]).toHaveLength(2);
});
