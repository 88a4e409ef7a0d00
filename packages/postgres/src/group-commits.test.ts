import { openTestDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { describe, expect, test } from "vitest";
import { CommitUnknownError, groupCommits, OverloadedError } from "./group-commits.ts";
import { statement } from "./open-database.ts";

const insert = statement<{ id: number }>(
  "insert-rows",
  "insert into counted (id) select unnest($1::int[]) returning id",
);

describe("commits of a group", () => {
  test("a bad row does not affect the other items of its batch, and each answer comes after the commit", async () => {
    const migrations = { "0001": "create table counted (id int primary key check (id <> 13))" };
    const { database, dispose } = await openTestDatabase({
      schema: "shop",
      migrations,
    });
    const batches: number[] = [];
    let inFlight = 0;
    let maxInFlight = 0;
    const group = groupCommits<number, number>({
      name: "test",
      orderBy: (id) => String(id).padStart(9, "0"),
      async run(ids) {
        batches.push(ids.length);
        maxInFlight = Math.max(maxInFlight, ++inFlight);
        await database.run(insert, [ids]).finally(() => inFlight--);
        return ids.map((id) => id * 2);
      },
    });
    const outcomes = await Promise.allSettled(Array.from({ length: 1000 }, (_, id) => group.submit(id)));
    const refused = outcomes.flatMap((outcome, id) => (outcome.status === "rejected" ? [id] : []));
    const doubled = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const stored = await database.run<{ id: number }>({ name: "", text: "select id from counted order by id" }, []);
    await dispose();
    expect(refused).toEqual([13]);
    expect(stored.map(({ id }) => id * 2)).toEqual(doubled);
    expect(Math.max(...batches)).toBeGreaterThan(100);
    expect(batches.length).toBeLessThan(30);
    expect(maxInFlight).toBe(2);
  });
});

test("a single item is written immediately, and items that arrive meanwhile share the next batch", async () => {
  const batches: number[][] = [];
  const finish: (() => void)[] = [];
  const group = groupCommits<number, number>({
    name: "test",
    async run(items) {
      batches.push([...items]);
      await new Promise<void>((resolve) => finish.push(resolve));
      return [...items];
    },
  });
  const first = group.submit(1);
  await expect.poll(() => batches).toEqual([[1]]);
  const rest = [2, 3, 4].map((item) => group.submit(item));
  finish.shift()?.();
  expect(await first).toBe(1);
  await expect.poll(() => batches).toEqual([[1], [2, 3, 4]]);
  finish.shift()?.();
  expect(await Promise.all(rest)).toEqual([2, 3, 4]);
  await group.drain();
});

test("a second batch starts in parallel once 64 items are queued", async () => {
  const batches: number[][] = [];
  let finish = () => {};
  const running = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const group = groupCommits<number, number>({
    name: "test",
    async run(items) {
      batches.push([...items]);
      await running;
      return [...items];
    },
  });
  const submitted = [group.submit(0)];
  await expect.poll(() => batches.length).toBe(1);
  for (let item = 1; item < 64; item++) submitted.push(group.submit(item));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(batches.length).toBe(1);
  submitted.push(group.submit(64));
  await expect.poll(() => batches.map(({ length }) => length)).toEqual([1, 33]);
  finish();
  expect(await Promise.all(submitted)).toHaveLength(65);
});

test("a batch takes half of what is unanswered, so that as much is left for the next", async () => {
  const batches: number[] = [];
  const finish: (() => void)[] = [];
  const group = groupCommits<number, number>({
    name: "test",
    async run(items) {
      batches.push(items.length);
      await new Promise<void>((resolve) => finish.push(resolve));
      return [...items];
    },
  });
  const submitted = Array.from({ length: 4 }, (_, item) => group.submit(item));
  await expect.poll(() => batches).toEqual([4]);
  for (let item = 4; item < 64; item++) submitted.push(group.submit(item));
  // 60 wait, and 4 are committed but not answered yet.
  for (const sizes of [
    [4, 32],
    [4, 32, 28],
    [4, 32, 28],
  ]) {
    finish.shift()?.();
    await expect.poll(() => batches).toEqual(sizes);
  }
  expect(await Promise.all(submitted)).toHaveLength(64);
  await group.drain();
});

test("items with equal keys in a batch run once and share the result, in the order of their keys", async () => {
  const batches: string[][] = [];
  const group = groupCommits<string, string>({
    name: "test",
    mergeBy: (item) => item,
    async run(items) {
      batches.push([...items]);
      return items.map((item) => `${item}!`);
    },
  });
  expect(await Promise.all(["b", "a", "b", "a"].map((item) => group.submit(item)))).toEqual(["b!", "a!", "b!", "a!"]);
  expect(batches).toEqual([["a", "b"]]);
});

test("items of one key run one at a time in their order of arrival, and items of other keys do not wait for them", async () => {
  const batches: string[][] = [];
  const group = groupCommits<string, string>({
    name: "test",
    oneAtATimeBy: (item) => item.slice(0, 1),
    async run(items) {
      batches.push([...items]);
      await new Promise((resolve) => setImmediate(resolve));
      if (items.includes("a2")) throw new Error("the connection broke");
      return [...items];
    },
  });
  const answers = await Promise.allSettled(["a1", "a2", "b1", "a3", "c1", "b2"].map((item) => group.submit(item)));
  expect(batches).toEqual([["a1", "b1", "c1"], ["a2", "b2"], ["a3"]]);
  expect(answers.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
    "fulfilled",
    "fulfilled",
    "rejected",
  ]);
  await group.drain();
  expect(await group.submit("a4")).toBe("a4");
});

test("items that wait for another item of their key count as queued", async () => {
  const finish: (() => void)[] = [];
  const group = groupCommits<string, string>({
    name: "test",
    maxQueued: 2,
    oneAtATimeBy: (item) => item.slice(0, 1),
    async run(items) {
      await new Promise<void>((resolve) => finish.push(resolve));
      return [...items];
    },
  });
  const first = group.submit("a1");
  await expect.poll(() => finish).toHaveLength(1);
  const waiting = [group.submit("a2"), group.submit("a3")];
  await expect(group.submit("a4")).rejects.toThrow(OverloadedError);
  for (const [index, one] of [first, ...waiting].entries()) {
    await expect.poll(() => finish).toHaveLength(index + 1);
    finish[index]?.();
    await one;
  }
});

test("an error in the caller's key function rejects its batch, and the next batch is served", async () => {
  const group = groupCommits<string, string>({
    name: "test",
    mergeBy: (item) => {
      if (item === "odd") throw new Error("no key");
      return item;
    },
    run: async (items) => [...items],
  });
  await expect(group.submit("odd")).rejects.toThrow("no key");
  expect(await group.submit("even")).toBe("even");
});

test("any other failure than a data error rejects the whole batch, because its commit is unknown", async () => {
  const group = groupCommits<number, number>({
    name: "test",
    run: async () => {
      throw new Error("Connection terminated unexpectedly");
    },
  });
  const outcomes = await Promise.allSettled([group.submit(1), group.submit(2)]);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: "rejected", reason: expect.any(CommitUnknownError) });
});

test("a batch is retried after a deadlock", async () => {
  let attempts = 0;
  const group = groupCommits<number, number>({
    name: "test",
    async run(items) {
      attempts += 1;
      if (attempts < 3) throw Object.assign(new pg.DatabaseError("deadlock detected", 0, "error"), { code: "40P01" });
      return [...items];
    },
  });
  expect(await group.submit(7)).toBe(7);
  expect(attempts).toBe(3);
});

test("a full queue refuses immediately", async () => {
  let finish = () => {};
  const running = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const group = groupCommits<number, number>({
    name: "test",
    maxQueued: 2,
    async run(items) {
      await running;
      return [...items];
    },
  });
  const taken = [group.submit(1), group.submit(2)];
  await expect(group.submit(3)).rejects.toBeInstanceOf(OverloadedError);
  finish();
  expect(await Promise.all(taken)).toEqual([1, 2]);
});
