import type { EventStore } from "./webhook.ts";

/** What `node:sqlite`, `better-sqlite3` and `bun:sqlite` have in common. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: string[]): unknown; get(...values: string[]): unknown };
}

/**
 * Handled events in a SQLite table, in one transaction with what the handler writes to the same database: after a crash at
 * any point the event and its effect are both there, or neither. Handlers run one after the other.
 */
export function sqliteStore(database: SqliteDatabase, { table = "handled_ad_events" } = {}): EventStore {
  if (!/^[a-z_][a-z0-9_]*$/i.test(table)) throw new Error(`"${table}" is not a table name`);
  database.exec(`create table if not exists ${table} (event_id text primary key, handled_at text not null)`);
  const find = database.prepare(`select 1 as found from ${table} where event_id = ?`);
  const insert = database.prepare(`insert into ${table} values (?, ?)`);
  let last: Promise<unknown> = Promise.resolve();

  async function run(eventId: string, handle: () => Promise<void>): Promise<void> {
    // Immediate: another process that handles the same event waits here, and then finds it.
    database.exec("begin immediate");
    try {
      // `undefined` in Node, `null` in Bun.
      if (!find.get(eventId)) {
        await handle();
        insert.run(eventId, new Date().toISOString());
      }
      database.exec("commit");
    } catch (error) {
      database.exec("rollback");
      throw error;
    }
  }

  return {
    once(eventId, handle) {
      const running = last.then(() => run(eventId, handle));
      last = running.catch(() => {});
      return running;
    },
  };
}

/** What the clients `redis` (`set` with options) can do; wrap other clients. */
export interface RedisClient {
  set(key: string, value: string, options: { NX?: true; PX: number }): Promise<string | null>;
  get(key: string): Promise<string | null>;
  del(key: string): Promise<unknown>;
}

/**
 * Handled events as keys in Redis, for several processes. The effect of a handler is not in Redis: where a process crashes
 * between the effect and its key, the event is handled again when the lease has run out, so make the effect idempotent.
 */
export function redisStore(
  redis: RedisClient,
  { prefix = "ad-event:", leaseMs = 60_000, rememberMs = 30 * 24 * 3_600_000 } = {},
): EventStore {
  return {
    async once(eventId, handle) {
      const key = prefix + eventId;
      if ((await redis.set(key, "leased", { NX: true, PX: leaseMs })) === null) {
        if ((await redis.get(key)) === "handled") return;
        throw new Error(`${eventId} is being handled by another process`);
      }
      try {
        await handle();
      } catch (error) {
        await redis.del(key);
        throw error;
      }
      await redis.set(key, "handled", { PX: rememberMs });
    },
  };
}
