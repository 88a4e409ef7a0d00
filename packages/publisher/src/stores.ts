import { type EventStore, eventKey } from "./memory-store.ts";
import type { AdEvent } from "./verify-webhook.ts";

/** The methods that `node:sqlite`, `better-sqlite3` and `bun:sqlite` share. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: string[]): unknown; get(...values: string[]): unknown };
}

export interface SqliteStore extends EventStore {
  /**
   * Stores in one transaction what `write` writes through the store's connection and that the event is handled, so that the
   * effect is there exactly once, whatever crashes when. Call it once, inside the event's handler; what the handler does
   * afterwards is not repeated. `write` must be synchronous, and may run again if another process holds the file.
   *
   * Rejects, and stores nothing, if the event's lease was taken over meanwhile.
   */
  commit(event: HandledEvent, write: () => void): Promise<void>;
}

/** The event that a handler got, or its key: the `entryId` of an entry of a ledger, for example. */
export type HandledEvent = string | Pick<AdEvent, "event" | "eventId" | "code">;

/** One call of an event's handler. */
interface Run {
  readonly eventId: string;
  readonly owner: string;
  leasedUntil: number;
  isCommitted: boolean;
}

/**
 * Handled events in a SQLite table, for several processes with one file. A handler runs under a lease and outside of any
 * transaction, so that a slow one delays no other event. What it does is done at least once: it runs again, after the lease of
 * `leaseMs` (60 s by default), if the process dies before the event is stored as handled, or if it takes longer than that;
 * a late handler then stores nothing. With `commit`, what it writes to the same database is there exactly once.
 *
 * While another process uses the file, or handles the same event, an event waits for it for `busyMs`, 5 s by default; then it
 * rejects. A file that is locked when the store is opened is set up with the first event.
 */
export function sqliteStore(
  database: SqliteDatabase,
  { table = "handled_ad_events", busyMs = 5000, leaseMs = 60_000 } = {},
): SqliteStore {
  if (!/^[a-z_][a-z0-9_]*$/i.test(table)) throw new Error(`"${table}" is not a table name`);
  const claims = `${table}_claims`;
  const setUp = () => {
    database.exec(`create table if not exists ${table} (event_id text primary key, handled_at text not null)`);
    database.exec(
      `create table if not exists ${claims} (event_id text primary key, owner text not null, leased_until text not null)`,
    );
    return {
      handled: database.prepare(`select 1 as found from ${table} where event_id = ?`),
      leased: database.prepare(`select 1 as found from ${claims} where event_id = ? and leased_until > ?`),
      owned: database.prepare(`select 1 as found from ${claims} where event_id = ? and owner = ?`),
      claim: database.prepare(`insert or replace into ${claims} values (?, ?, ?)`),
      release: database.prepare(`delete from ${claims} where event_id = ? and owner = ?`),
      insert: database.prepare(`insert into ${table} values (?, ?)`),
    };
  };
  type Statements = ReturnType<typeof setUp>;
  let statements: Statements | undefined;
  try {
    statements = setUp();
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  const running = new Map<string, Run & { readonly done: Promise<void> }>();

  /** Ends in the same turn in which it begins, so that nobody else's writes through the connection belong to it. */
  function transact<T>(work: (statements: Statements) => T): Promise<T> {
    return whenFree(() => {
      statements ??= setUp();
      // Immediate: two processes that claim the same event do so one after the other.
      database.exec("begin immediate");
      try {
        const result = work(statements);
        database.exec("commit");
        return result;
      } catch (error) {
        try {
          database.exec("rollback");
        } catch {
          // SQLite ended the transaction itself, after a full disk for example. The first error tells why.
        }
        throw error;
      }
    }, busyMs);
  }

  /** Returns false if the event was handled before. */
  async function claim(run: Run): Promise<boolean> {
    const until = Date.now() + busyMs;
    for (;;) {
      const now = Date.now();
      const state = await transact(({ handled, leased, claim }) => {
        // Node returns undefined and Bun null if there is no row.
        if (handled.get(run.eventId)) return "handled";
        if (leased.get(run.eventId, timeOf(now))) return "leased";
        claim.run(run.eventId, run.owner, timeOf(now + leaseMs));
        return "claimed";
      });
      run.leasedUntil = now + leaseMs;
      if (state !== "leased") return state === "claimed";
      if (now >= until) {
        const reason = "is being handled by another process, or by one that crashed";
        throw new Error(`${run.eventId} ${reason}: it is handled again when its lease of ${leaseMs} ms is over`);
      }
      await wait(POLL_MS);
    }
  }

  async function finish(run: Run, write: () => unknown): Promise<void> {
    await transact(({ owned, insert, release }) => {
      if (!owned.get(run.eventId, run.owner)) {
        const advice = "make the handler faster, or leaseMs longer";
        throw new Error(
          `${run.eventId} is handled by another call, since its lease of ${leaseMs} ms is over: ${advice}`,
        );
      }
      const written = write();
      if (written instanceof Promise) {
        written.catch(() => {});
        throw new TypeError("commit() needs a synchronous function: await everything else before, outside of it");
      }
      insert.run(run.eventId, timeOf(Date.now()));
      release.run(run.eventId, run.owner);
    });
    run.isCommitted = true;
  }

  async function handleClaimed(run: Run, handle: () => Promise<void>): Promise<void> {
    if (!(await claim(run))) return;
    try {
      await handle();
    } catch (error) {
      // Where this fails, the lease ends by itself.
      if (!run.isCommitted) await transact(({ release }) => release.run(run.eventId, run.owner)).catch(() => {});
      throw error;
    }
    if (!run.isCommitted) await finish(run, () => {});
  }

  return {
    once(eventId, handle) {
      const known = running.get(eventId);
      if (known !== undefined && Date.now() < known.leasedUntil) return known.done;
      if (running.size >= MAX_RUNNING) {
        for (const [id, { leasedUntil }] of running) if (Date.now() >= leasedUntil) running.delete(id);
        if (running.size >= MAX_RUNNING)
          return Promise.reject(new Error(`${MAX_RUNNING} events wait for their handler`));
      }
      const run = { eventId, owner: crypto.randomUUID(), leasedUntil: Number.POSITIVE_INFINITY, isCommitted: false };
      const done = handleClaimed(run, handle).finally(() => {
        if (running.get(eventId) === current) running.delete(eventId);
      });
      const current = Object.assign(run, { done });
      running.set(eventId, current);
      return done;
    },
    async commit(event, write) {
      const eventId = typeof event === "string" ? event : eventKey(event);
      const run = eventId === undefined ? undefined : running.get(eventId);
      // Without an id, nothing recognizes a repeat, and no store was asked.
      if (eventId === undefined) await transact(() => write());
      else if (run !== undefined) await finish(run, write);
      else throw new Error(`${eventId} is not being handled: call commit() inside the handler of its event`);
    },
  };
}

/** Repeats are not counted: they wait for the same run. */
const MAX_RUNNING = 1000;
const POLL_MS = 20;

/** Text whose order is that of time. */
function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Tries again while another process holds the file. SQLite's own wait would stop this process for as long. */
async function whenFree<T>(work: () => T, busyMs: number): Promise<T> {
  const until = Date.now() + busyMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || Date.now() >= until) throw error;
    }
    await wait(POLL_MS);
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
