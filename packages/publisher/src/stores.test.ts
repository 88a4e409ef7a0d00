import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { committingStoreContract, sharedStoreContract, storeContract } from "@intermission/testing/store-contract";
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { afterEach, expect, test, vi } from "vitest";
import { leasedStore } from "./leased-store.ts";
import { memoryStore } from "./memory-store.ts";
import { type PostgresConnection, postgresStore, sqliteStore } from "./stores.ts";

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function sqlitePlace() {
  const folder = mkdtempSync(join(tmpdir(), "intermission-stores-"));
  const file = join(folder, "events.db");
  const connect = () => new DatabaseSync(file);
  const first = connect();
  first.exec("pragma journal_mode = wal; create table coins (event_id text)");
  return {
    open({ leaseMs = 60_000 }) {
      const database = connect();
      const store = sqliteStore(database, { leaseMs, busyMs: 100 });
      const insert = database.prepare("insert into coins values (?)");
      const pay = (event: string, write = () => {}) =>
        store.commit(event, () => {
          insert.run(event);
          write();
        });
      return { ...store, pay };
    },
    coins: async (event: string) =>
      Number(first.prepare("select count(*) as n from coins where event_id = ?").get(event)?.n),
    close: async () => rmSync(folder, { recursive: true }),
  };
}

async function postgresPlace() {
  const database = await createServerDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 10 });
  // Its end does not wait for its connections, which the database's end then terminates.
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", () => {});
  await pool.query("create table coins (event_id text)");
  return {
    open({ leaseMs = 60_000 }) {
      const store = postgresStore(pool, { leaseMs });
      const pay = (event: string, write = () => {}) =>
        store.commit(event, async (connection) => {
          await connection.query("insert into coins values ($1)", [event]);
          write();
        });
      return { ...store, pay };
    },
    coins: async (event: string) => (await pool.query("select from coins where event_id = $1", [event])).rows.length,
    async close() {
      await pool.end();
      await database.drop();
    },
  };
}

storeContract("memory", async () => ({ open: ({ maxHandlerMs }) => memoryStore({ maxHandlerMs }) }));
const shared = [
  ["SQLite", sqlitePlace],
  ["PostgreSQL", postgresPlace],
] as const;
for (const [name, openPlace] of shared) {
  storeContract(name, openPlace);
  sharedStoreContract(name, openPlace);
  committingStoreContract(name, openPlace);
}

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

test("commit names its mistakes: outside of a handler, and with an asynchronous function", async () => {
  const store = sqliteStore(new DatabaseSync(":memory:"));
  await expect(store.commit("evt_1", () => {})).rejects.toThrow("inside the handler");
  // @ts-expect-error: the type refuses it, too.
  const handle = () => store.commit("evt_1", async () => {});
  await expect(store.once("evt_1", handle)).rejects.toThrow("needs a synchronous function");
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

test("a lease that a clock far ahead made withholds its event from nobody", async () => {
  const place = await sqlitePlace();
  stops.push(place.close);
  vi.useFakeTimers({ toFake: ["Date"] });
  stops.push(() => vi.useRealTimers());
  const now = Date.now();
  vi.setSystemTime(now + 10 * 24 * 3_600_000);
  const crashed = vi.fn(() => new Promise<void>(() => {}));
  void place.open({}).once("evt_1", crashed);
  await vi.waitFor(() => expect(crashed).toHaveBeenCalled());
  vi.setSystemTime(now);
  const handle = vi.fn(async () => {});
  await place.open({}).once("evt_1", handle);
  expect(handle).toHaveBeenCalledTimes(1);
});

test("an event that is being handled is not dropped from memory, however many others are handled meanwhile", async () => {
  const store = memoryStore({ maxEvents: 2 });
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

test("a commit that its handler does not wait for is there before the event counts as handled", async () => {
  for (const openPlace of [sqlitePlace, postgresPlace]) {
    const place: Awaited<ReturnType<typeof openPlace>> & { close?(): Promise<void> } = await openPlace();
    if (place.close) stops.push(place.close);
    const store = place.open({});
    await store.once("evt_1", async () => void store.pay("evt_1"));
    expect(await place.coins("evt_1")).toBe(1);
    const fail = () => {
      throw new Error("inside");
    };
    await expect(store.once("evt_2", async () => void store.pay("evt_2", fail))).rejects.toThrow("inside");
    await store.once("evt_2", async () => void store.pay("evt_2"));
    expect(await place.coins("evt_2")).toBe(1);
  }
});

test("an event whose handler tried again after a commit that failed is handled", async () => {
  const place = await sqlitePlace();
  stops.push(place.close);
  const store = place.open({});
  const fail = () => {
    throw new Error("inside");
  };
  await store.once("evt_1", () => store.pay("evt_1", fail).catch(() => store.pay("evt_1")));
  expect(await place.coins("evt_1")).toBe(1);
});

test("a commit that gets no connection of its pool says so when its lease is over, and holds none that comes later", {
  tags: "long",
}, async () => {
  const database = await createServerDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  pool.on("error", () => {});
  stops.push(
    () => pool.end(),
    () => database.drop(),
  );
  const store = postgresStore(pool, { leaseMs: 300 });
  const handle = async () => {
    const own = await pool.connect();
    try {
      await store.commit("evt_1", (connection) => connection.query("select 1"));
    } finally {
      own.release();
    }
  };
  await expect(store.once("evt_1", handle)).rejects.toThrow(
    "commit() got no connection of the pool in 2000 ms: take none of the same pool before it in the handler, or make the pool's max larger",
  );
  await store.once("evt_2", () => store.commit("evt_2", (connection) => connection.query("select 1")));
});

test("a connection that PostgreSQL ends in a commit fails this commit, and not the process", async () => {
  const database = await createServerDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on("error", () => {});
  stops.push(
    () => pool.end(),
    () => database.drop(),
  );
  await pool.query("create table coins (event_id text)");
  const store = postgresStore(pool);
  const pay = (connection: PostgresConnection) => connection.query("insert into coins values ('evt_1')");
  const end = async (connection: PostgresConnection) => {
    await pay(connection);
    const { rows } = await connection.query("select pg_backend_pid() as pid");
    await pool.query("select pg_terminate_backend($1)", [(rows[0] as { pid: number }).pid]);
    // Its end arrives while no query waits for it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    await pay(connection);
  };
  await expect(store.once("evt_1", () => store.commit("evt_1", end))).rejects.toThrow();
  await store.once("evt_1", () => store.commit("evt_1", pay));
  expect((await pool.query("select * from coins")).rows).toHaveLength(1);
});

test("a store that fails for a moment behind the handler's effect does not have it made again", async () => {
  let failures = 0;
  const leases = {
    claim: async () => (failures === 3 ? ("handled" as const) : ("claimed" as const)),
    finish: async () => {
      if (++failures < 3) throw new Error("cannot execute INSERT in a read-only transaction");
      return true;
    },
    release: async () => {},
  };
  const handle = vi.fn(async () => {});
  const store = leasedStore(leases, { leaseMs: 60_000 });
  for (const _copy of [1, 2]) await store.once("evt_1", handle);
  expect(handle).toHaveBeenCalledTimes(1);
  expect(failures).toBe(3);
});
