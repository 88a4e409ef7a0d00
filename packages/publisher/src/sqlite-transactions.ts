import { isThenable, LaterWriteError, RefusedFunctions } from "./commit-writes.ts";
import { wait } from "./leased-store.ts";
import { inTime } from "./pause.ts";
import { requireSynchronousSqlite } from "./store-clients.ts";

/** The methods that `node:sqlite`, `better-sqlite3` and `bun:sqlite` share. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): { run(...values: string[]): unknown; get(...values: string[]): unknown };
}

/** Transactions of the store through a connection that the bot uses, too. */
export function openTransactions(
  database: SqliteDatabase,
  { table, busyMs, leaseMs }: { readonly table: string; readonly busyMs: number; readonly leaseMs: number },
) {
  let statements: Statements | undefined;
  try {
    statements = setUp(database, table);
  } catch (error) {
    if (!isBusy(error)) throw error;
  }

  let readingOnly: Promise<void> | undefined;
  /** What a promise writes later would be outside of any transaction, and once more with each repeat of the event. */
  function onlyReadUntil(later: Promise<unknown>): void {
    database.exec("pragma query_only = on");
    const ended = later.then(
      () => {},
      () => {},
    );
    readingOnly = inTime(ended, leaseMs, "a promise of commit()")
      .catch(() => {})
      .then(() => database.exec("pragma query_only = off"))
      // The connection was closed meanwhile.
      .catch(() => {})
      .then(() => {
        readingOnly = undefined;
      });
  }

  /** Ends in the same turn in which it begins, so that nobody else's writes through the connection belong to it. */
  async function transact<T>(work: (statements: Statements) => T): Promise<T> {
    while (readingOnly) await readingOnly;
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
        if (error instanceof LaterWriteError && error.later) onlyReadUntil(error.later);
        throw isTransactionEnded(error) ? new Error(endedTransaction, { cause: error }) : error;
      }
    }, busyMs);
  }

  const refused = new RefusedFunctions();
  function callWrite(write: () => unknown): void {
    refused.check(write);
    const written = write();
    if (!isThenable(written)) return;
    const error = new LaterWriteError(written);
    refused.add(write, error);
    throw error;
  }
  return { transact, callWrite };
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

const POLL_MS = 20;

const openTransaction =
  "a transaction is open in the store's connection: write in store.commit(event, write), or through a connection of the handler's own";

const endedTransaction = "the transaction of commit() was ended in its function: remove the commit or rollback in it";

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

function isTransactionEnded(error: unknown): boolean {
  return textOf(error).includes("no transaction is active");
}

function textOf(error: unknown): string {
  return String((error as Partial<Error> | null)?.message);
}
