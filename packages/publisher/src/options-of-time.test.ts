import { DatabaseSync } from "node:sqlite";
import { describe, expect, test, vi } from "vitest";
import { createCompanion } from "./create-companion.ts";
import { followRewards } from "./follow-rewards.ts";
import { memoryStore } from "./memory-store.ts";
import { reconcile } from "./reconcile.ts";
import { postgresStore, sqliteStore } from "./stores.ts";
import { webhook } from "./webhook.ts";

const unused = async (): Promise<never> => {
  throw new Error("used");
};
const sqlite = new DatabaseSync(":memory:");
const pool = { query: unused, connect: unused };
const cursors = { read: () => undefined, write: () => {} };
const tokens = "ad_test";

/** What takes each option. */
const users: Record<string, ((length: number) => unknown)[]> = {
  leaseMs: [(leaseMs) => sqliteStore(sqlite, { leaseMs }), (leaseMs) => postgresStore(pool, { leaseMs })],
  maxHandlerMs: [(maxHandlerMs) => memoryStore({ maxHandlerMs })],
  handlerTimeoutMs: [(handlerTimeoutMs) => webhook(() => {}, { tokens, handlerTimeoutMs })],
};

// As of an environment's variable that is not set, or text where a number belongs. With such a lease, each copy of an event
// ran its handler at the same time; with such a limit, each webhook was answered 500.
describe.each(Object.entries(users))("%s that is no length of time is refused at once, by name", (option, takers) => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, "60000", "14s", 0, -1, 0.5, 2 ** 31, null])("%j", (length) => {
    const found = typeof length === "string" ? `"${length}"` : length;
    const message = `${option} must be a whole number of milliseconds from 1 to 2147483647; it is ${found}`;
    for (const take of takers) expect(() => take(length as number)).toThrow(message);
  });
});

test("handlerTimeoutMs of reconcile and followRewards is checked before a handler runs", async () => {
  const handle = vi.fn();
  const service = { events: async () => ({ events: [], next: "a", hasMore: false }) };
  const companion = createCompanion({ url: "http://api.test", apiKey: "key", fetch: unused });
  const { signal } = new AbortController();
  const message = "handlerTimeoutMs must be a whole number of milliseconds from 1 to 2147483647; it is NaN";
  const limits = { handlerTimeoutMs: Number.NaN };
  await expect(reconcile(service, cursors, handle, limits)).rejects.toThrow(message);
  await expect(followRewards(companion, cursors, handle, { signal, ...limits })).rejects.toThrow(message);
  await expect(followRewards(companion, cursors, handle, {} as never)).rejects.toThrow("{ signal }");
});

test("a tolerance that is no time is refused at once: each webhook was refused for the clock", () => {
  for (const toleranceSeconds of [Number.NaN, "300", 0])
    expect(() => webhook(() => {}, { tokens, toleranceSeconds: toleranceSeconds as number })).toThrow(
      "toleranceSeconds must be a whole number of seconds from 1 to 2147483647; it is",
    );
});

test("a wait of 0 is a length of time", () => {
  sqliteStore(sqlite, { busyMs: 0 });
  expect(() => sqliteStore(sqlite, { busyMs: Number.NaN })).toThrow("busyMs must be");
  expect(() => memoryStore({ maxEvents: Number.NaN })).toThrow("maxEvents must be a whole number from 1 to 2147483647");
});
