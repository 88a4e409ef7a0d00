import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { briefCache } from "./brief-cache.ts";

function counted(answers: (key: string) => Promise<string | undefined>, maxAgeMs = 60_000) {
  const loaded: string[] = [];
  const cache = briefCache<string>({
    maxAgeMs,
    maxEntries: 2,
    load(key) {
      loaded.push(key);
      return answers(key);
    },
  });
  return { cache, loaded };
}

test("concurrent requests share one load, and later ones its value", async () => {
  const { cache, loaded } = counted(async (key) => `value of ${key}`);
  expect(await Promise.all([cache.get("a"), cache.get("a")])).toEqual(["value of a", "value of a"]);
  expect(await cache.get("a")).toBe("value of a");
  expect(loaded).toEqual(["a"]);
});

test("a missing value and a failure are loaded again", async () => {
  const answers = [Promise.resolve(undefined), Promise.reject(new Error("down")), Promise.resolve("there")];
  const { cache, loaded } = counted(() => answers.shift() ?? Promise.resolve("too often"));
  expect(await cache.get("a")).toBeUndefined();
  await expect(cache.get("a")).rejects.toThrow("down");
  expect(await cache.get("a")).toBe("there");
  expect(loaded).toHaveLength(3);
});

test("a value that was forgotten while it loaded is not cached", async () => {
  let answer = (_value: string) => {};
  const { cache, loaded } = counted(() => new Promise((resolve) => (answer = resolve)));
  const early = cache.get("a");
  cache.forget("a");
  answer("old");
  expect(await early).toBe("old");
  const late = cache.get("a");
  answer("new");
  expect(await late).toBe("new");
  expect(loaded).toHaveLength(2);
});

test("it holds the most recent keys only, and each until its age is over", async () => {
  const { cache, loaded } = counted(async (key) => key, 30);
  for (const key of ["a", "b", "c", "a"]) await cache.get(key);
  expect(loaded).toEqual(["a", "b", "c", "a"]);
  await expect.poll(async () => (await cache.get("a")) && loaded.length, { interval: 5 }).toBe(5);
});

test("the age of a value counts from the start of its load, during which the data may change", async () => {
  const { cache, loaded } = counted(async (key) => wait(60, key), 80);
  await cache.get("a");
  await wait(30);
  await cache.get("a");
  expect(loaded).toEqual(["a", "a"]);
});

test("a load that outlasts the age is not joined, and its value is not cached for longer", async () => {
  const { cache, loaded } = counted(async (key) => wait(60, key), 20);
  const first = cache.get("a");
  await wait(30);
  expect(await Promise.all([first, cache.get("a")])).toEqual(["a", "a"]);
  await wait(5);
  await cache.get("a");
  expect(loaded).toEqual(["a", "a", "a"]);
});

test("what is forgotten or cleared while it fails to load fails for who waits, and is loaded again", async () => {
  const { cache, loaded } = counted(async (key) =>
    loaded.length === 1 ? wait(10).then(() => Promise.reject(new Error("down"))) : key,
  );
  const failing = expect(cache.get("a")).rejects.toThrow("down");
  cache.forget("a");
  cache.clear();
  await failing;
  expect(await cache.get("a")).toBe("a");
});
