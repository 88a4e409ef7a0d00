import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type EventStore, memoryStore } from "./memory-store.ts";
import { toNodeHandler } from "./node.ts";
import { type RedisClient, redisStore, sqliteStore } from "./stores.ts";
import type { AdEvent } from "./verify-webhook.ts";
import { webhook } from "./webhook.ts";

const token = "ad_test";
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

let events = 0;
function signed(fields: object = {}, key = token): RequestInit {
  events += 1;
  const event = { event: "rewarded", event_id: `evt_${events}`, user_tg_id: "42", ...fields };
  const body = Buffer.from(JSON.stringify(event));
  const timestampSeconds = Math.floor(Date.now() / 1000);
  const headers = {
    ...{ "content-type": "application/json", "x-signature": sign(body, key) },
    ...signStandardWebhook({ id: event.event_id, timestampSeconds, body, tokens: [key] }),
  };
  return { method: "POST", headers, body };
}

/** A real server, as a bot's backend runs one. */
async function serve(handler: (request: Request) => Promise<Response>): Promise<string> {
  const server = createServer(toNodeHandler(handler));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
}

describe("over HTTP", () => {
  test("an event is handled once, however often it is sent, and each copy is answered 200", async () => {
    const handled: AdEvent[] = [];
    const url = await serve(webhook((event) => void handled.push(event), { tokens: token }));
    const request = signed({ code: "ABCD", reference: "order 7" });
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url, request)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(handled).toMatchObject([{ userId: "42", code: "ABCD", reference: "order 7" }]);
  });

  test("a handler that fails is answered 500 and called again for the next attempt", async () => {
    const onError = vi.fn();
    const handle = vi.fn().mockRejectedValueOnce(new Error("no database")).mockResolvedValueOnce(undefined);
    const url = await serve(webhook(handle, { tokens: token, onError }));
    const request = signed();
    expect((await fetch(url, request)).status).toBe(500);
    expect((await fetch(url, request)).status).toBe(200);
    expect((await fetch(url, request)).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(2);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test("a test event pays nothing, and is shown to whoever wants it", async () => {
    const [handle, onTest] = [vi.fn(), vi.fn()];
    const url = await serve(webhook(handle, { tokens: token, onTest }));
    expect((await fetch(url, signed({ user_tg_id: "0", test: true }))).status).toBe(200);
    expect(handle).not.toHaveBeenCalled();
    expect(onTest).toHaveBeenCalledWith(expect.objectContaining({ userId: "0", isTest: true }));
  });

  test("a test for a listed tester pays as an earned event does, once, where the receiver pays testers", async () => {
    const [handle, onTest] = [vi.fn(), vi.fn()];
    const url = await serve(webhook(handle, { tokens: token, onTest, paysTesters: true }));
    const tester = signed({ user_tg_id: "42", test: true, event_id: "evt_tester" });
    for (const request of [tester, tester, signed({ user_tg_id: "0", test: true })]) await fetch(url, request);
    expect(handle.mock.calls).toMatchObject([[{ userId: "42", isTest: true }]]);
    expect(onTest).toHaveBeenCalledTimes(1);
  });

  test("both tokens are accepted while they rotate", async () => {
    const url = await serve(webhook(() => {}, { tokens: ["ad_new", token] }));
    expect((await fetch(url, signed())).status).toBe(200);
    expect((await fetch(url, signed({}, "ad_new"))).status).toBe(200);
  });

  test("tokens belong to bots: an event is accepted only from the tokens of the bot that it names", async () => {
    const [handle, onRefused] = [vi.fn(), vi.fn()];
    const tokens = { 7000000001: "ad_a", 7000000002: ["ad_next_b", "ad_b"] };
    const url = await serve(webhook(handle, { tokens, onRefused }));
    const send = async (botId: string | undefined, key: string) =>
      (await fetch(url, signed({ bot_id: botId }, key))).status;
    expect(await send("7000000001", "ad_a")).toBe(200);
    for (const key of ["ad_next_b", "ad_b"]) expect(await send("7000000002", key)).toBe(200);
    expect(await send(undefined, "ad_b")).toBe(200);
    expect(handle.mock.calls.map(([{ botId }]) => botId)).toEqual([
      "7000000001",
      ...Array.from({ length: 3 }, () => "7000000002"),
    ]);
    expect(await send("7000000002", "ad_a")).toBe(401);
    expect(onRefused).toHaveBeenLastCalledWith(
      expect.stringMatching(/another bot than the event's bot_id: pass each bot's tokens under its own id/),
      { fault: "wrong-signature", cause: "another-bot" },
    );
    for (const botId of ["7000000003", "toString", "__proto__"]) {
      expect(await send(botId, "ad_other")).toBe(401);
      expect(onRefused).toHaveBeenLastCalledWith(expect.stringMatching(/none for the event's bot_id: add/), {
        ...{ fault: "wrong-signature", cause: "unlisted-bot" },
      });
    }
    expect(await send("7000000003", "ad_a")).toBe(401);
    expect(handle).toHaveBeenCalledTimes(4);
  });

  test("a function of the bot's id gives the tokens of that bot only, and a bot without them stops no other", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    stops.push(() => logged.mockRestore());
    const handle = vi.fn();
    const byBot: Record<string, string | undefined> = { 7000000001: "ad_a", 7000000002: undefined };
    for (const tokens of [byBot, (botId = "") => byBot[botId], async () => byBot]) {
      const url = await serve(webhook(handle, { tokens, onRefused: () => {} }));
      const send = async (botId: string, key: string) => (await fetch(url, signed({ bot_id: botId }, key))).status;
      expect(await send("7000000001", "ad_a")).toBe(200);
      expect(await send("7000000001", "ad_b")).toBe(401);
      expect(await send("7000000002", "ad_a")).toBe(500);
    }
    expect(handle).toHaveBeenCalledTimes(3);
  });

  test("a handler that never ends is answered 500 after its time, and no repeat calls it again", async () => {
    const onError = vi.fn();
    let end = () => {};
    const handle = vi.fn(() => new Promise<void>((resolve) => (end = resolve)));
    const url = await serve(webhook(handle, { tokens: token, onError, handlerTimeoutMs: 50 }));
    const request = signed();
    expect((await fetch(url, request)).status).toBe(500);
    expect((await fetch(url, request)).status).toBe(500);
    expect(onError).toHaveBeenCalledTimes(2);
    end();
    expect((await fetch(url, request)).status).toBe(200);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test("an onError that throws changes no answer", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    stops.push(() => logged.mockRestore());
    const onError = () => {
      throw new Error("no log");
    };
    const url = await serve(webhook(() => Promise.reject(new Error("no database")), { tokens: token, onError }));
    expect((await fetch(url, signed())).status).toBe(500);
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test.each([null, ""])("events whose id and code are %j are different events", async (nothing) => {
    const users: string[] = [];
    const url = await serve(
      webhook(({ userId }) => void users.push(userId), { tokens: token, isTimestampOptional: true }),
    );
    for (const user of ["1", "2", "3"]) {
      const body = JSON.stringify({
        event: "rewarded",
        event_id: nothing,
        code: nothing,
        reference: null,
        user_tg_id: user,
      });
      const headers = { "x-signature": sign(Buffer.from(body), token) };
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
    }
    expect(users).toEqual(["1", "2", "3"]);
  });

  test.each<[string, number, () => RequestInit]>([
    ["another method", 405, () => ({ method: "GET" })],
    ["no signature", 401, () => ({ method: "POST", body: "{}" })],
    ["another token", 401, () => signed({}, "ad_other")],
    ["no event", 400, () => signed({ event: "something" })],
    ["a body of 65 kB", 413, () => ({ method: "POST", body: "x".repeat(65 * 1024) })],
  ])("%s is answered %d and handles nothing", async (_name, status, request) => {
    const handle = vi.fn();
    const url = await serve(webhook(handle, { tokens: token, onRefused: () => {} }));
    const response = await fetch(url, request());
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: expect.any(String), message: expect.any(String) } });
    expect(handle).not.toHaveBeenCalled();
  });

  test("the answer to a genuine webhook names the seconds by which the clock is off", async () => {
    const onRefused = vi.fn();
    for (const [seconds, words] of [
      [600, /sent 60\d s ago by the clock of this machine: check that clock \(NTP\)/],
      [-600, /(599|600) s in the future by the clock of this machine: check that clock \(NTP\)/],
    ] as const) {
      const now = () => new Date(Date.now() + seconds * 1000);
      const url = await serve(webhook(() => {}, { tokens: token, now, onRefused }));
      const response = await fetch(url, signed());
      expect(response.status).toBe(401);
      const fault = seconds > 0 ? "stale" : "future";
      const details = { fault, seconds: expect.closeTo(600, -1) };
      const message = expect.stringMatching(words);
      expect(await response.json()).toEqual({ error: { code: "BAD_SIGNATURE", message, details } });
      expect(onRefused).toHaveBeenLastCalledWith(message, details);
    }
  });

  test("refusals are logged by default, once a minute for each kind, without anything that was sent", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    stops.push(() => warn.mockRestore());
    const url = await serve(webhook(() => {}, { tokens: `${token}\n` }));
    for (let count = 0; count < 50; count++) await fetch(url, signed({ code: "SECRET" }));
    await fetch(url, { method: "POST", body: "{}" });
    const genuine = await serve(webhook(() => {}, { tokens: token }));
    await fetch(genuine, signed({ event: "something" }));
    expect(warn.mock.calls.map(([line]) => String(line))).toEqual([
      expect.stringMatching(/^a webhook was refused: .*without the blanks, line breaks or quotes around it/),
      expect.stringMatching(/^a webhook was refused: X-Signature is missing/),
      expect.stringMatching(/^a webhook was refused: .*not an event of the contract/),
    ]);
    expect(JSON.stringify(warn.mock.calls)).not.toMatch(/SECRET|ad_test|evt_/);
  });

  test("an onRefused that throws changes no answer", async () => {
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    stops.push(() => logged.mockRestore());
    const onRefused = () => {
      throw new Error("no log");
    };
    const url = await serve(webhook(() => {}, { tokens: token, onRefused }));
    expect((await fetch(url, signed({}, "ad_other"))).status).toBe(401);
    expect(logged).toHaveBeenCalledTimes(1);
  });
});

/** The commands of Redis that the store uses. Keys expire by `Date.now()`. */
function fakeRedis(): RedisClient {
  const values = new Map<string, { value: string; until: number }>();
  const read = (key: string) => {
    const entry = values.get(key);
    return entry !== undefined && Date.now() < entry.until ? entry.value : null;
  };
  return {
    async set(key, value, { NX, XX, PX }) {
      if ((NX && read(key) !== null) || (XX && read(key) === null)) return null;
      values.set(key, { value, until: Date.now() + PX });
      return "OK";
    },
    get: async (key) => read(key),
    del: async (key) => values.delete(key),
  };
}

const stores: [string, () => EventStore][] = [
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore(new DatabaseSync(":memory:"))],
  ["Redis", () => redisStore(fakeRedis())],
];
describe.each(stores)("a store in %s", (name, open) => {
  test("runs an event's handler until it succeeds, and never after", async () => {
    const store = open();
    const handle = vi.fn(async () => {}).mockRejectedValueOnce(new Error("first"));
    await expect(store.once("evt_1", handle)).rejects.toThrow("first");
    await store.once("evt_1", handle);
    await store.once("evt_1", handle);
    expect(handle).toHaveBeenCalledTimes(2);
  });

  test("runs one of two at the same time; the other waits, or is told to come again", async () => {
    const store = open();
    let finish = () => {};
    const handle = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    const both = Promise.allSettled([store.once("evt_1", handle), store.once("evt_1", handle)]);
    await vi.waitFor(() => expect(handle).toHaveBeenCalled());
    finish();
    const outcomes = (await both).map(({ status }) => status);
    expect(outcomes).toEqual(["fulfilled", name === "Redis" ? "rejected" : "fulfilled"]);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test("runs an event's handler again after it threw at once", async () => {
    const store = open();
    const handle = vi
      .fn(() => Promise.resolve())
      .mockImplementationOnce(() => {
        throw new Error("at once");
      });
    await expect(store.once("evt_1", handle)).rejects.toThrow("at once");
    await store.once("evt_1", handle);
    expect(handle).toHaveBeenCalledTimes(2);
  });
});

test("two processes with one SQLite file wait for one another, and run an event once", async () => {
  const folder = mkdtempSync(join(tmpdir(), "intermission-stores-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  const [one, other] = [1, 2].map(() => sqliteStore(new DatabaseSync(join(folder, "events.db"))));
  const slow = Promise.withResolvers<void>();
  const handle = vi.fn(() => slow.promise);
  const both = [one?.once("evt_1", handle), other?.once("evt_1", handle)];
  await vi.waitFor(() => expect(handle).toHaveBeenCalled());
  await new Promise((resolve) => setTimeout(resolve, 100));
  slow.resolve();
  await Promise.all(both);
  expect(handle).toHaveBeenCalledTimes(1);
});

test("a store that is opened, and an event that is committed, wait for another process that uses the file", async () => {
  const folder = mkdtempSync(join(tmpdir(), "intermission-stores-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  const [own, other] = [1, 2].map(() => new DatabaseSync(join(folder, "events.db"), { timeout: 0 }));
  if (own === undefined || other === undefined) throw new Error("no databases");
  other.exec("create table coins (user_id text); insert into coins values ('1'); begin exclusive");
  const store = sqliteStore(own);
  const handle = vi.fn(async () => {});
  const first = store.once("evt_1", handle);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(handle).not.toHaveBeenCalled();
  other.exec("commit");
  await first;
  // In the default journal mode, a reader lets a writer begin, and lets it commit only afterwards.
  handle.mockImplementation(async () => {
    other.exec("begin");
    other.prepare("select * from coins").get();
  });
  let isDone = false;
  const second = store.once("evt_2", handle).then(() => (isDone = true));
  await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isDone).toBe(false);
  other.exec("commit");
  await second;
  await store.once("evt_2", handle);
  expect(handle).toHaveBeenCalledTimes(2);
});

test("an error of a commit is reported although SQLite ended the transaction itself", async () => {
  const database = new DatabaseSync(":memory:");
  const store = sqliteStore(database);
  const fail = () =>
    store.commit("evt_1", () => {
      database.exec("rollback");
      throw new Error("the disk is full");
    });
  await expect(store.once("evt_1", fail)).rejects.toThrow("the disk is full");
});

test("what is committed with an event in SQLite is there exactly when its event is, whatever the handler does then", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec("create table coins (user_id text)");
  const store = sqliteStore(database);
  const coins = () => database.prepare("select count(*) as n from coins").get();
  const pay = (fault?: "inside" | "after") => async () => {
    await store.commit("evt_1", () => {
      database.prepare("insert into coins values ('42')").run();
      if (fault === "inside") throw new Error("inside");
    });
    if (fault === "after") throw new Error("after");
  };
  await expect(store.once("evt_1", pay("inside"))).rejects.toThrow("inside");
  expect(coins()).toEqual({ n: 0 });
  await expect(store.once("evt_1", pay("after"))).rejects.toThrow("after");
  await Promise.all([store.once("evt_1", pay()), store.once("evt_1", pay())]);
  expect(coins()).toEqual({ n: 1 });
});

test("commit names its mistakes: outside of a handler, and with an asynchronous function", async () => {
  const store = sqliteStore(new DatabaseSync(":memory:"));
  await expect(store.commit("evt_1", () => {})).rejects.toThrow("inside the handler");
  const handle = () => store.commit("evt_1", async () => {});
  await expect(store.once("evt_1", handle)).rejects.toThrow("needs a synchronous function");
});

test("a handler that does not end delays no event of another user, with any store", async () => {
  for (const open of stores.map(([, make]) => make)) {
    const gate = Promise.withResolvers<void>();
    const handle = vi.fn(({ userId }: AdEvent) => (userId === "1" ? gate.promise : undefined));
    const url = await serve(webhook(handle, { tokens: token, store: open() }));
    const slow = fetch(url, signed({ user_tg_id: "1" }));
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1), { timeout: 10_000 });
    const others = Array.from({ length: 20 }, (_, user) => fetch(url, signed({ user_tg_id: String(user + 2) })));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 200));
    gate.resolve();
    expect((await slow).status).toBe(200);
  }
});

test("an event of a process that died is handled again when its lease is over, and a late handler stores nothing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "intermission-stores-"));
  stops.push(() => rmSync(folder, { recursive: true }));
  const database = new DatabaseSync(join(folder, "events.db"));
  database.exec("create table coins (user_id text)");
  const late = sqliteStore(database);
  const other = sqliteStore(new DatabaseSync(join(folder, "events.db")), { busyMs: 0 });
  vi.useFakeTimers({ toFake: ["Date"] });
  stops.push(() => vi.useRealTimers());
  const [gate, otherGate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const pay = async () => {
    await gate.promise;
    await late.commit("evt_1", () => void database.prepare("insert into coins values ('42')").run());
  };
  const handle = vi.fn(() => gate.promise);
  const outcomes = Promise.allSettled([late.once("evt_1", pay), late.once("evt_2", handle)]);
  await vi.waitFor(() => expect(handle).toHaveBeenCalled());
  await expect(other.once("evt_1", async () => {})).rejects.toThrow("when its lease of 60000 ms is over");
  vi.setSystemTime(Date.now() + 60_001);
  const second = other.once("evt_1", () => otherGate.promise);
  await other.once("evt_2", async () => {});
  gate.resolve();
  for (const outcome of await outcomes)
    expect(outcome).toMatchObject({ reason: { message: expect.stringContaining("is handled by another call") } });
  expect(database.prepare("select count(*) as n from coins").get()).toEqual({ n: 0 });
  otherGate.resolve();
  await second;
  const again = vi.fn(async () => {});
  for (const eventId of ["evt_1", "evt_2"]) await late.once(eventId, again);
  expect(again).not.toHaveBeenCalled();
});

test("an event that is being handled is not dropped from memory, however many others are handled meanwhile", async () => {
  const store = memoryStore({ most: 2 });
  const slow = Promise.withResolvers<void>();
  const handle = vi.fn(() => slow.promise);
  const both = [store.once("evt_slow", handle)];
  for (let other = 0; other < 10; other++) await store.once(`evt_${other}`, async () => {});
  both.push(store.once("evt_slow", handle));
  slow.resolve();
  await Promise.all(both);
  await store.once("evt_slow", handle);
  expect(handle).toHaveBeenCalledTimes(1);
});

describe("a lease in Redis", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] }));
  afterEach(() => void vi.useRealTimers());

  test("is extended while the handler runs, so that a handler slower than the lease runs once", async () => {
    const redis = fakeRedis();
    const [one, other] = [redisStore(redis, { leaseMs: 3000 }), redisStore(redis, { leaseMs: 3000 })];
    const slow = Promise.withResolvers<void>();
    const handle = vi.fn(() => slow.promise);
    const first = one.once("evt_1", handle);
    for (let second = 0; second < 20; second++) {
      await vi.advanceTimersByTimeAsync(1000);
      await expect(other.once("evt_1", handle)).rejects.toThrow("being handled by another process");
    }
    slow.resolve();
    await first;
    await other.once("evt_1", handle);
    expect(handle).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is left alone by a process that lost it", async () => {
    const redis = fakeRedis();
    const slow = Promise.withResolvers<void>();
    const first = redisStore(redis, { leaseMs: 3000 }).once("evt_1", () => slow.promise);
    await vi.waitFor(async () => expect(await redis.get("ad-event:evt_1")).not.toBeNull());
    await redis.set("ad-event:evt_1", "leased by another process", { PX: 9000 });
    await vi.advanceTimersByTimeAsync(6000);
    slow.reject(new Error("failed late"));
    await expect(first).rejects.toThrow("failed late");
    expect(await redis.get("ad-event:evt_1")).toBe("leased by another process");
  });
});
