import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createServerDatabase } from "@intermission/testing/test-database";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileStore } from "./file-store.ts";
import type { PendingJoin } from "./join-store.ts";
import { type EventStore, memoryStore } from "./memory-store.ts";
import { postgresStore, sqliteStore } from "./stores.ts";

interface Place {
  /** The store of another process, which may come after a crash. */
  open(): EventStore;
  close(): unknown;
}

const folder = () => mkdtempSync(join(tmpdir(), "intermission-joins-"));

const places: Record<string, () => Promise<Place>> = {
  async memory() {
    const store = memoryStore();
    return { open: () => store, close() {} };
  },
  async "a file"() {
    const path = folder();
    return { open: () => fileStore(join(path, "events.txt")), close: () => rmSync(path, { recursive: true }) };
  },
  async SQLite() {
    const path = folder();
    const open = () => sqliteStore(new DatabaseSync(join(path, "events.db")));
    return { open, close: () => rmSync(path, { recursive: true }) };
  },
  async PostgreSQL() {
    const database = await createServerDatabase();
    const pool = new pg.Pool({ connectionString: database.url, max: 10 });
    pool.on("connect", (client) => client.on("error", () => {}));
    pool.on("error", () => {});
    return {
      open: () => postgresStore(pool),
      async close() {
        await pool.end();
        await database.drop();
      },
    };
  },
};

const garden = "-1001234567890";
const ann: PendingJoin = { chatId: garden, userId: "501", queryId: "q1", decideAt: 1000 };

describe.each(Object.keys(places))("requests to join in %s", (name) => {
  let place: Place;
  beforeAll(async () => {
    const open = places[name];
    if (!open) throw new Error("no such place");
    place = await open();
  });
  afterAll(() => place.close());
  const joins = () => {
    const { joins: found } = place.open();
    if (!found) throw new Error("the store remembers no requests");
    return found;
  };

  test("are there for a process that starts later, one for a user and chat, until they are removed", async () => {
    await joins().put(ann);
    await joins().put({ ...ann, userId: "502", queryId: undefined });
    await joins().put({ ...ann, chatId: "-7" });
    expect(await joins().get(garden, "501")).toEqual(ann);
    expect(await joins().get(garden, "502")).toEqual({ ...ann, userId: "502", queryId: undefined });
    expect(await joins().get(garden, "503")).toBeUndefined();
    const again = { ...ann, queryId: "q2", decideAt: 2_000_000_000_000 };
    await joins().put(again);
    await joins().remove(ann);
    expect(await joins().get(garden, "501")).toEqual(again);
    await joins().remove(again);
    expect(await joins().get(garden, "501")).toBeUndefined();
  });

  test("are late when their time is over", async () => {
    await joins().put({ ...ann, userId: "601", decideAt: 5000 });
    await joins().put({ ...ann, userId: "602", decideAt: 20_000 });
    const late = async (now: number) => (await joins().late(now)).map(({ userId }) => userId);
    expect(await late(4999)).not.toContain("601");
    expect(await late(5000)).toContain("601");
    expect(await late(5000)).not.toContain("602");
    expect(await late(20_000)).toContain("602");
  });

  test("that come at the same time are all kept", async () => {
    const store = joins();
    const users = Array.from({ length: 30 }, (_, at) => String(700 + at));
    await Promise.all(users.map((userId) => store.put({ ...ann, userId })));
    for (const userId of users) expect(await joins().get(garden, userId)).toEqual({ ...ann, userId });
  });
});
