import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import table from "@intermission/testing/misbehaving-handlers.json" with { type: "json" };
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { memoryStore } from "./memory-store.ts";
import { toNodeHandler } from "./node.ts";
import { type AdEvent, type EventStore, webhook } from "./publisher.ts";
import { postgresStore, sqliteStore } from "./stores.ts";
import { signWebhook } from "./testing/sign-webhook.ts";

interface Misbehaviour {
  /** Of a handler whose type may be wrong: bots are written in JavaScript, too. */
  readonly handle: (event: AdEvent) => unknown;
  /** What the first delivery says is wrong; undefined if the effect is there although. */
  readonly says?: RegExp;
}

interface Place {
  readonly store: EventStore;
  readonly handlers: Readonly<Record<string, Misbehaviour | { readonly cannot: string }>>;
  right(event: AdEvent): Promise<void>;
  coins(eventId: string): Promise<number>;
  close?(): Promise<unknown>;
}

/** What runs later, of all handlers: a test waits for it before it counts. */
const later: Promise<unknown>[] = [];
function makeLater<Result>(make: () => Result): Promise<Result> {
  const made = new Promise((resolve) => setTimeout(resolve, 5)).then(make) as Promise<Result>;
  later.push(made);
  made.catch(() => {});
  return made;
}

/** As a builder's query: nothing runs until something waits for it. */
const lazy = (run: () => unknown) => ({
  // biome-ignore lint/suspicious/noThenProperty: that is what they are.
  then: (resolve: (value: unknown) => void) => resolve(run()),
});

const fault = () => {
  throw new Error("a fault of the handler");
};
const ofEveryReceiver = (commit: (event: AdEvent) => Promise<void>) => ({
  fails: { handle: fault, says: /a fault of the handler/ },
  crashes: { handle: () => Promise.reject(null), says: /null/ },
  "is a generator": {
    *handle(event: AdEvent) {
      yield commit(event);
    },
    says: /the handler returned a generator, which nothing runs/,
  },
  "returns a function": { handle: (event: AdEvent) => () => commit(event), says: /the handler returned a function/ },
});

async function sqlitePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "intermission-handlers-"));
  const [database, other] = [1, 2].map(() => new DatabaseSync(join(folder, "bot.db"), { timeout: 0 }));
  if (!database || !other) throw new Error("no databases");
  database.exec("create table coins (event_id text)");
  const insert = (on = database) => on.prepare("insert into coins values (?)");
  const pay = ({ eventId = "" }: AdEvent) => void insert().run(eventId);
  const store = sqliteStore(database, { busyMs: 50 });
  const commit = (event: AdEvent, write: () => unknown) => store.commit(event, write as () => void);
  const right = (event: AdEvent) => commit(event, () => pay(event));
  const payAnd = (then: () => unknown) => (event: AdEvent) =>
    commit(event, () => {
      pay(event);
      return then();
    });
  const end = /the transaction of commit\(\) was ended in its function/;
  const needed = /commit\(\) needs a synchronous function/;
  const twice = /commit\(\) was called twice/;
  return {
    store,
    right,
    handlers: {
      ...ofEveryReceiver(right),
      "is not awaited": { handle: (event) => void right(event) },
      "comes later": { handle: (event) => void makeLater(() => right(event)) },
      "fails afterwards": { handle: payAnd(fault), says: /a fault/ },
      "is async": { handle: (event) => commit(event, async () => makeLater(() => pay(event))), says: needed },
      "returns a promise": { handle: (event) => commit(event, () => makeLater(() => pay(event))), says: needed },
      "leaves a promise": { cannot: "a function that left a promise and one that is done look the same" },
      "returns a query": { handle: (event) => commit(event, () => lazy(() => pay(event))), says: needed },
      "is a generator function": {
        handle: (event) =>
          commit(event, function* () {
            yield pay(event);
          }),
        says: needed,
      },
      commits: { handle: payAnd(() => database.exec("commit")), says: end },
      "rolls back": { handle: payAnd(() => database.exec("rollback")), says: end },
      "commits and begins": { handle: payAnd(() => database.exec("commit; begin")) },
      "uses another connection": {
        handle: (event) => commit(event, () => void insert(other).run(event.eventId ?? "")),
        says: /database is locked/,
      },
      "hides an error": {
        handle: (event) =>
          commit(event, () => {
            pay(event);
            expect(() => database.exec("insert into no_table values (1)")).toThrow();
          }),
      },
      "commits twice": { handle: (event) => right(event).then(() => right(event)), says: twice },
      "commits twice at once": { handle: (event) => Promise.all([right(event), right(event)]), says: twice },
    },
    coins: async (event) =>
      Number(database.prepare("select count(*) as n from coins where event_id = ?").get(event)?.n),
    close: async () => rmSync(folder, { recursive: true }),
  };
}

async function postgresPlace(): Promise<Place> {
  const database = await createServerDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on("error", () => {});
  await pool.query("create table coins (event_id text)");
  const sql = "insert into coins values ($1)";
  type Connection = Parameters<Parameters<ReturnType<typeof postgresStore>["commit"]>[1]>[0];
  const pay = (event: AdEvent, on: Connection = pool) => on.query(sql, [event.eventId]);
  const store = postgresStore(pool);
  const commit = (event: AdEvent, write: (connection: Connection) => unknown) =>
    store.commit(event, write as (connection: Connection) => Promise<unknown>);
  const right = (event: AdEvent) => commit(event, (connection) => pay(event, connection));
  const then = (end: string) => async (event: AdEvent) =>
    commit(event, async (connection) => {
      await pay(event, connection);
      await connection.query(end);
    });
  const end = /commit\(\) has begun a transaction and ends it/;
  const needed = /commit\(\) needs a function that returns its promise and writes through the connection/;
  const twice = /commit\(\) was called twice/;
  return {
    store,
    right,
    handlers: {
      ...ofEveryReceiver(right),
      "is not awaited": { handle: (event) => void right(event) },
      "comes later": { handle: (event) => void makeLater(() => right(event)) },
      "fails afterwards": {
        handle: (event) => commit(event, (connection) => pay(event, connection).then(fault)),
        says: /a fault/,
      },
      "is async": { cannot: "async functions are right here" },
      "returns a promise": { cannot: "it is awaited" },
      "leaves a promise": {
        handle: (event) => commit(event, (connection) => void makeLater(() => pay(event, connection))),
        says: needed,
      },
      "returns a query": {
        handle: (event) => commit(event, (connection) => lazy(() => pay(event, connection))),
      },
      "is a generator function": {
        handle: (event) =>
          commit(event, function* (connection) {
            yield pay(event, connection);
          }),
        says: needed,
      },
      commits: { handle: then("commit"), says: end },
      "rolls back": { handle: then(" -- all of it\n ROLLBACK"), says: end },
      "commits and begins": { handle: then("select 1; commit; begin"), says: /was ended in its function/ },
      "uses another connection": { handle: (event) => commit(event, () => pay(event)), says: needed },
      "hides an error": {
        handle: (event) =>
          commit(event, async (connection) => {
            await pay(event, connection);
            await connection.query("insert into no_table values (1)").catch(() => {});
          }),
        says: /current transaction is aborted/,
      },
      "commits twice": { handle: (event) => right(event).then(() => right(event)), says: twice },
      "commits twice at once": { handle: (event) => Promise.all([right(event), right(event)]), says: twice },
    },
    coins: async (event) => (await pool.query("select from coins where event_id = $1", [event])).rows.length,
    async close() {
      await pool.end();
      await database.drop();
    },
  };
}

async function memoryPlace(): Promise<Place> {
  const paid: string[] = [];
  const right = async ({ eventId = "" }: AdEvent) => void paid.push(eventId);
  const cannot = { cannot: "the store does not write the effect" };
  const names = table.handlers.map(({ name }) => [name, cannot]);
  return {
    store: memoryStore(),
    right,
    handlers: { ...Object.fromEntries(names), ...ofEveryReceiver(right) },
    coins: async (event) => paid.filter((one) => one === event).length,
  };
}

type Deliver = (receive: (request: Request) => Promise<Response>, eventId: string) => Promise<number>;

const token = "ad_test";
const toFetchHandler: Deliver = async (receive, eventId) =>
  (await receive(new Request("http://bot.test/", signWebhook({ userId: "42", eventId }, token)))).status;
const toNode: Deliver = async (receive, eventId) => {
  const server: Server = createServer(toNodeHandler(receive));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return (await fetch(`http://127.0.0.1:${port}/`, signWebhook({ userId: "42", eventId }, token))).status;
  } finally {
    server.close();
  }
};

describe.each([
  ["SQLite", sqlitePlace, toNode],
  ["PostgreSQL", postgresPlace, toFetchHandler],
  ["memory", memoryPlace, toNode],
] as const)("with a store in %s, a webhook is answered 200 when its effect is there, once", (_store, open, deliver) => {
  let place: Place;
  beforeAll(async () => {
    place = await open();
  });
  afterAll(() => place.close?.());

  test.for(table.handlers.map(({ name }) => name))("also of a handler whose effect %s", async (name, { skip }) => {
    const misbehaviour = place.handlers[name];
    if (!misbehaviour) throw new Error(`the store has no handler whose effect ${name}`);
    if ("cannot" in misbehaviour) return skip(misbehaviour.cannot);
    vi.spyOn(console, "warn").mockImplementation(() => {});
    const eventId = `evt_${name.replaceAll(" ", "_")}`;
    const errors: string[] = [];
    const report = (error: unknown) => void errors.push(String(error));
    const receive = async (request: Request) => {
      try {
        const handle = misbehaviour.handle as (event: AdEvent) => Promise<void>;
        return await webhook(handle, { tokens: token, store: place.store, onError: report })(request);
      } catch (error) {
        // What the bot's start would have ended with.
        report(error);
        return new Response(null, { status: 500 });
      }
    };
    for (let delivery = 0; delivery < 3; delivery++) {
      const status = await deliver(receive, eventId);
      await Promise.allSettled(later);
      expect(await place.coins(eventId), `the effects after the answer ${status}`).toBeLessThanOrEqual(1);
      if (status === 200) expect(await place.coins(eventId)).toBe(1);
      if (delivery === 0) expect(status).toBe(misbehaviour.says ? 500 : 200);
    }
    if (misbehaviour.says) expect(errors[0]).toMatch(misbehaviour.says);
    else expect(errors).toEqual([]);
    const right = webhook(place.right, { tokens: token, store: place.store, onError: report });
    expect(await deliver(right, eventId)).toBe(200);
    expect(await place.coins(eventId)).toBe(1);
  });
});
