import type { EventStore } from "./memory-store.ts";

/** The methods that `node:sqlite`, `better-sqlite3` and `bun:sqlite` share. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: string[]): unknown; get(...values: string[]): unknown };
}

/**
 * Handled events in a SQLite table. The event and what its handler writes through the same connection are one transaction:
 * after a crash at any point both are stored, or neither. Handlers run one at a time, and must not end the transaction. Use a
 * connection of its own: whatever else is written through it while a handler runs belongs to the same transaction.
 *
 * While another process uses the same file, an event waits for it for `busyMs`, 5 s by default; then it is not handled. A file
 * that is locked when the store is opened is set up with the first event.
 */
export function sqliteStore(database: SqliteDatabase, { table = "handled_ad_events", busyMs = 5000 } = {}): EventStore {
  if (!/^[a-z_][a-z0-9_]*$/i.test(table)) throw new Error(`"${table}" is not a table name`);
  const setUp = () => {
    database.exec(`create table if not exists ${table} (event_id text primary key, handled_at text not null)`);
    const find = database.prepare(`select 1 as found from ${table} where event_id = ?`);
    return { find, insert: database.prepare(`insert into ${table} values (?, ?)`) };
  };
  let statements: ReturnType<typeof setUp> | undefined;
  try {
    statements = setUp();
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  let last: Promise<unknown> = Promise.resolve();
  const waiting = new Map<string, Promise<void>>();

  async function run(eventId: string, handle: () => Promise<void>): Promise<void> {
    // Immediate: another process that handles the same event waits here and then finds the row.
    const { find, insert } = await whenFree(() => {
      statements ??= setUp();
      database.exec("begin immediate");
      return statements;
    }, busyMs);
    try {
      // Node returns undefined and Bun null if there is no row.
      if (!find.get(eventId)) {
        await handle();
        insert.run(eventId, new Date().toISOString());
      }
      // Without a write-ahead log, it waits for other processes that read.
      await whenFree(() => database.exec("commit"), busyMs);
    } catch (error) {
      try {
        database.exec("rollback");
      } catch {
        // SQLite ended the transaction itself, after a full disk for example. The first error tells why.
      }
      throw error;
    }
  }

  return {
    once(eventId, handle) {
      const known = waiting.get(eventId);
      if (known !== undefined) return known;
      if (waiting.size >= MOST_WAITING)
        return Promise.reject(new Error(`${MOST_WAITING} events wait for their handler`));
      const running = last.then(() => run(eventId, handle)).finally(() => waiting.delete(eventId));
      waiting.set(eventId, running);
      last = running.catch(() => {});
      return running;
    },
  };
}

/** Repeats are not counted: they wait for the same run. */
const MOST_WAITING = 1000;

/** Tries again while another process holds the file. SQLite's own wait would stop this process for as long. */
async function whenFree<T>(work: () => T, busyMs: number): Promise<T> {
  const until = Date.now() + busyMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= until) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** `node:sqlite`, `better-sqlite3` and `bun:sqlite` have different codes and SQLite's own text. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}

/** The commands of the client `redis` that the store uses; wrap other clients. */
export interface RedisClient {
  set(key: string, value: string, options: { NX?: true; XX?: true; PX: number }): Promise<string | null>;
  get(key: string): Promise<string | null>;
  del(key: string): Promise<unknown>;
}

/**
 * Handled events as keys in Redis, for several processes. A process leases the event before it runs the handler, and extends
 * the lease while the handler runs, so a slow handler runs once. While an event is leased, other calls for it reject.
 *
 * The handler's effect is not in Redis. The event is handled again, after the lease has expired, if the process crashes
 * between the effect and its key, or cannot reach Redis or is suspended for longer than `leaseMs`. So make the effect
 * idempotent.
 */
export function redisStore(
  redis: RedisClient,
  { prefix = "ad-event:", leaseMs = 60_000, rememberMs = 30 * 24 * 3_600_000 } = {},
): EventStore {
  return {
    async once(eventId, handle) {
      const key = prefix + eventId;
      const lease = `leased by ${crypto.randomUUID()}`;
      if ((await redis.set(key, lease, { NX: true, PX: leaseMs })) === null) {
        if ((await redis.get(key)) === "handled") return;
        throw new Error(`${eventId} is being handled by another process`);
      }
      const isOurs = async () => (await redis.get(key)) === lease;
      // If Redis fails here, the lease only expires earlier; the next renewal tries again.
      const renew = async () => {
        if (await isOurs()) await redis.set(key, lease, { XX: true, PX: leaseMs });
      };
      let renewing: Promise<unknown> = Promise.resolve();
      const timer = setInterval(() => {
        renewing = renewing.then(renew).catch(() => {});
      }, leaseMs / 3);
      try {
        await handle().finally(async () => {
          clearInterval(timer);
          await renewing;
        });
      } catch (error) {
        if (await isOurs()) await redis.del(key);
        throw error;
      }
      await redis.set(key, "handled", { PX: rememberMs });
    },
  };
}
