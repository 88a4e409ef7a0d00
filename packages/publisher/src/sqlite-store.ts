import { type HandledEvent, leasedStore, requireTableName, wait } from "./leased-store.ts";
import type { EventStore } from "./memory-store.ts";
import { requireSynchronous, requireSynchronousSqlite } from "./store-clients.ts";

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

/**
 * Handled events in a SQLite table, for several processes with one file and the same `leaseMs`. A handler runs under a lease
 * and outside of any transaction, so that a slow one delays no other event. What it does is done at least once: it runs again,
 * after the lease of `leaseMs` (60 s by default), if the process dies before the event is stored as handled, or if it takes
 * longer than that; a late handler then stores nothing. With `commit`, what it writes to the same database is there exactly
 * once.
 *
 * While another process uses the file, or handles the same event, an event waits for it for `busyMs`, 5 s by default; then it
 * rejects. A file that is locked when the store is opened is set up with the first event.
 */
export function sqliteStore(
  database: SqliteDatabase,
  { table = "handled_ad_events", busyMs = 5000, leaseMs = 60_000 } = {},
): SqliteStore {
  requireTableName(table);
  let statements: Statements | undefined;
  try {
    statements = setUp(database, table);
  } catch (error) {
    if (!isBusy(error)) throw error;
  }

  /** Ends in the same turn in which it begins, so that nobody else's writes through the connection belong to it. */
  function transact<T>(work: (statements: Statements) => T): Promise<T> {
    return whenFree(() => {
      statements ??= setUp(database, table);
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

  function finish({ eventId, owner }: { eventId: string; owner: string }, write: () => void): Promise<boolean> {
    return transact(({ owned, insert, release }) => {
      if (!owned.get(eventId, owner)) return false;
      requireSynchronous(write());
      insert.run(eventId, timeOf(Date.now()));
      release.run(eventId, owner);
      return true;
    });
  }

  const store = leasedStore(
    {
      claim: ({ eventId, owner }) =>
        transact(({ handled, leased, claim }) => {
          const now = Date.now();
          // Node returns undefined and Bun null if there is no row.
          if (handled.get(eventId)) return "handled";
          // A lease that ends later was made by a clock that was wrong, and would withhold the event until its date.
          if (leased.get(eventId, timeOf(now), timeOf(now + leaseMs + MAX_CLOCK_STEP_MS))) return "leased";
          claim.run(eventId, owner, timeOf(now + leaseMs));
          return "claimed";
        }),
      finish: (run) => finish(run, () => {}),
      release: ({ eventId, owner }) => transact(({ release }) => release.run(eventId, owner)),
    },
    { leaseMs, busyMs },
  );
  return {
    once: store.once,
    commit: (event, write) =>
      store.commit(event, async (run) => {
        if (run !== undefined) return finish(run, write);
        await transact(() => requireSynchronous(write()));
        return true;
      }),
  };
}

type Statements = ReturnType<typeof setUp>;

/** Makes the tables, if there are none, and prepares the statements. */
function setUp(database: SqliteDatabase, table: string) {
  requireSynchronousSqlite(database);
  const claims = `${table}_claims`;
  database.exec(`create table if not exists ${table} (event_id text primary key, handled_at text not null)`);
  database.exec(
    `create table if not exists ${claims} (event_id text primary key, owner text not null, leased_until text not null)`,
  );
  return {
    handled: database.prepare(`select 1 as found from ${table} where event_id = ?`),
    leased: database.prepare(
      `select 1 as found from ${claims} where event_id = ? and leased_until > ? and leased_until <= ?`,
    ),
    owned: database.prepare(`select 1 as found from ${claims} where event_id = ? and owner = ?`),
    claim: database.prepare(`insert or replace into ${claims} values (?, ?, ?)`),
    release: database.prepare(`delete from ${claims} where event_id = ? and owner = ?`),
    insert: database.prepare(`insert into ${table} values (?, ?)`),
  };
}

const MAX_CLOCK_STEP_MS = 60_000;
const POLL_MS = 20;

/** Text whose order is that of time. */
function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

const openTransaction =
  "a transaction is open in the store's connection: write in store.commit(event, write), or through a connection of the handler's own";

/** Tries again while another process holds the file, or a handler its own transaction. SQLite's own wait would stop this process for as long. */
async function whenFree<T>(work: () => T, busyMs: number): Promise<T> {
  const until = performance.now() + busyMs;
  for (;;) {
    try {
      return work();
    } catch (error) {
      const isOpen = isTransactionOpen(error);
      if (!(isOpen || isBusy(error))) throw error;
      if (performance.now() >= until) throw isOpen ? new Error(openTransaction, { cause: error }) : error;
    }
    await wait(POLL_MS);
  }
}

/** `node:sqlite`, `better-sqlite3` and `bun:sqlite` have different codes and SQLite's own text. */
function isBusy(error: unknown): boolean {
  return textOf(error).includes("database is locked");
}

function isTransactionOpen(error: unknown): boolean {
  return textOf(error).includes("start a transaction within a transaction");
}

function textOf(error: unknown): string {
  return String((error as Partial<Error> | null)?.message);
}
