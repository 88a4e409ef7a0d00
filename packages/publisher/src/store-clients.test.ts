import { DatabaseSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { postgresStore, sqliteStore } from "./stores.ts";

/** As the package `sqlite3` answers: later, to a callback. What its methods return is the object itself. */
function callbackSqlite() {
  const statement = { run: () => statement, get: () => statement };
  const database = { exec: () => database, prepare: () => statement };
  return database;
}

/** As the package `sqlite` and `libsql/promise` answer. */
const promisedSqlite = { exec: async () => {}, prepare: async () => ({}) };

const needed = "sqliteStore needs a database of node:sqlite, better-sqlite3 or bun:sqlite, which answer at once";

test.each([
  ["sqlite3, which answers to callbacks", callbackSqlite()],
  ["a client of promises", promisedSqlite],
  ["a file's name", "bot.sqlite"],
  ["nothing", undefined],
])("%s is no database of sqliteStore: it says so, and no event counts as handled", (_what, database) => {
  expect(() => sqliteStore(database as never)).toThrow(needed);
});

test("a database that reads whole numbers as BigInt is one", async () => {
  const database = new DatabaseSync(":memory:");
  const prepare = database.prepare.bind(database);
  const withBigInts = {
    exec: (sql: string) => database.exec(sql),
    prepare(sql: string) {
      const statement = prepare(sql);
      statement.setReadBigInts(true);
      return statement;
    },
  };
  const handle = vi.fn(async () => {});
  const store = sqliteStore(withBigInts);
  for (const _copy of [1, 2]) await store.once("evt_1", handle);
  expect(handle).toHaveBeenCalledTimes(1);
});

/** As query builders (drizzle, knex, kysely) are: nothing runs until something waits for the query. */
const lazyQuery = (run: () => void) => ({
  // biome-ignore lint/suspicious/noThenProperty: that is what they are.
  then: (resolve: () => void) => {
    run();
    resolve();
  },
});

test("commit refuses a query of a builder that has not run, and the event is handled again", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec("create table coins (event_id text)");
  const insert = database.prepare("insert into coins values (?)");
  const store = sqliteStore(database);
  const event = { event: "rewarded", eventId: "evt_1", code: undefined } as const;
  const lazily = () => store.commit(event, (() => lazyQuery(() => insert.run("evt_1"))) as () => void);
  await expect(store.once("evt_1", lazily)).rejects.toThrow(
    "commit() needs a synchronous function: await everything else before, outside of it, and end a builder's query with run()",
  );
  const count = () => database.prepare("select count(*) as n from coins").get()?.n;
  expect(count()).toBe(0);
  await store.once("evt_1", () => store.commit(event, () => void insert.run("evt_1")));
  expect(count()).toBe(1);
});

test("a client of PostgreSQL that returns the rows themselves, as pg-promise does, is named before a handler runs", async () => {
  const handle = vi.fn();
  const store = postgresStore({ query: async () => [], connect: async () => ({ done() {} }) } as never);
  await expect(store.once("evt_1", handle)).rejects.toThrow(
    "postgresStore needs a Pool of pg: new Pool({ connectionString })",
  );
  expect(handle).not.toHaveBeenCalled();
});

test("an event waits while a handler has a transaction of its own open in the store's connection, and says so", async () => {
  const database = new DatabaseSync(":memory:");
  const store = sqliteStore(database, { busyMs: 200 });
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const owner = store.once("evt_1", async () => {
    database.exec("begin");
    begun.resolve();
    await gate.promise;
    database.exec("commit");
  });
  const handle = vi.fn(async () => {});
  await begun.promise;
  await expect(store.once("evt_2", handle)).rejects.toThrow(
    "a transaction is open in the store's connection: write in store.commit(event, write), or through a connection of the handler's own",
  );
  const waiting = store.once("evt_2", handle);
  gate.resolve();
  await Promise.all([owner, waiting]);
  expect(handle).toHaveBeenCalledTimes(1);
});

test.each([
  [
    "postgresStore",
    () => postgresStore(undefined as never),
    "postgresStore needs a Pool of pg: new Pool({ connectionString })",
  ],
  ["postgresStore", () => postgresStore("postgres://…" as never), "postgresStore needs a Pool of pg"],
])("%s without its database says what it needs", (_name, make, message) => {
  expect(make).toThrow(message);
});

test("postgresStore names a Client of pg in place of its Pool, before the handler's effect is lost", async () => {
  // As a connected Client answers.
  const client = {
    query: async () => ({ rows: [1], rowCount: 1 }),
    connect: async () => Promise.reject(new Error("Client has already been connected. You cannot reuse a client.")),
  };
  const unconnected = { ...client, connect: async () => undefined };
  for (const wrong of [client, unconnected]) {
    const store = postgresStore(wrong as never);
    const paid = store.once("evt_1", () => store.commit("evt_1", async () => {}));
    await expect(paid).rejects.toThrow("postgresStore needs a Pool of pg: new Pool({ connectionString })");
  }
});
