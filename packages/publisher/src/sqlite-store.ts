import { requireSynchronousFunction, type Synchronous } from "./commit-writes.ts";
import { type JoinStore, joinOf, joinStatements, joinValues, momentText } from "./join-store.ts";
import { type HandledEvent, leasedStore, requireTableName } from "./leased-store.ts";
import type { EventStore } from "./memory-store.ts";
import { openTransactions, type SqliteDatabase } from "./sqlite-transactions.ts";

export interface SqliteOptions {
  readonly table?: string | undefined;
  readonly busyMs?: number | undefined;
  readonly leaseMs?: number | undefined;
}

export interface SqliteStore extends EventStore {
  /**
   * Stores in one transaction what `write` writes through the store's connection and that the event is handled, so that the
   * effect is there exactly once, whatever crashes when. Call it once, inside the event's handler; what the handler does
   * afterwards is not repeated. `write` may run again if another process holds the file.
   *
   * Rejects, and stores nothing, if the event's lease was taken over meanwhile, and if `write` is not synchronous: one that
   * returned a promise is not called again, and until that ends, at most `leaseMs`, the connection only reads.
   */
  commit<Written>(event: HandledEvent, write: () => Synchronous<Written>): Promise<void>;
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
  { table = "handled_ad_events", busyMs = 5000, leaseMs = 60_000 }: SqliteOptions = {},
): SqliteStore {
  requireTableName(table);
  const { transact, callWrite } = openTransactions(database, { table, busyMs, leaseMs });

  function finish({ eventId, owner }: { eventId: string; owner: string }, write?: () => unknown): Promise<boolean> {
    return transact(({ owned, insert, release }) => {
      if (!owned.get(eventId, owner)) return false;
      // Before `write`, so that a commit in it stores the event together with the effect.
      insert.run(eventId, timeOf(Date.now()));
      release.run(eventId, owner);
      if (write) callWrite(write);
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
      finish: (run) => finish(run),
      release: ({ eventId, owner }) => transact(({ release }) => release.run(eventId, owner)),
    },
    { leaseMs, busyMs },
  );
  return {
    once: store.once,
    joins: joinsIn(database, `${table}_joins`, (work) => transact(work)),
    commit: (event, write) =>
      store.commit(event, async (run) => {
        requireSynchronousFunction(write);
        if (run !== undefined) return finish(run, write);
        await transact(() => callWrite(write));
        return true;
      }),
  };
}

function joinsIn(
  database: SqliteDatabase,
  table: string,
  transact: <Result>(work: () => Result) => Promise<Result>,
): JoinStore {
  const open = () => {
    const { create, ...statements } = joinStatements(table);
    database.exec(create);
    const prepare = (sql: string) => database.prepare(sql.replace(/\$\d/g, "?"));
    // These drivers share no method that returns several rows.
    const columns = ["chat_id", "user_id", "query_id", "decide_at"].map((name) => `'${name}', ${name}`).join(", ");
    const late = `select json_group_array(json_object(${columns})) as found from (${statements.late})`;
    return {
      put: prepare(statements.put),
      get: prepare(statements.get),
      late: prepare(late),
      remove: prepare(statements.remove),
    };
  };
  let opened: ReturnType<typeof open> | undefined;
  const run = <Result>(work: (joins: ReturnType<typeof open>) => Result) =>
    transact(() => {
      opened ??= open();
      return work(opened);
    });
  return {
    put: async (join) => void (await run(({ put }) => put.run(...joinValues(join)))),
    async get(chatId, userId) {
      // Node returns undefined and Bun null if there is no row.
      const row = await run(({ get }) => get.get(chatId, userId));
      return row ? joinOf(row) : undefined;
    },
    async late(now) {
      const row = (await run(({ late }) => late.get(momentText(now)))) as { found: string };
      return (JSON.parse(row.found) as unknown[]).map(joinOf);
    },
    remove: async (join) => void (await run(({ remove }) => remove.run(...joinValues(join)))),
  };
}

const MAX_CLOCK_STEP_MS = 60_000;

/** Text whose order is that of time. */
function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
