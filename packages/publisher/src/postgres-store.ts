import { requireConnectionFunction } from "./commit-writes.ts";
import type { Run } from "./handler-commits.ts";
import { type JoinStore, joinOf, joinStatements, joinValues, momentText } from "./join-store.ts";
import { type HandledEvent, leasedStore, requireTableName, type TableOptions } from "./leased-store.ts";
import { guardPool, writeThrough } from "./lend-connection.ts";
import type { EventStore } from "./memory-store.ts";
import { inTime, LateError } from "./pause.ts";
import { poolNeeded, requireMethods, takeFromPool } from "./store-clients.ts";

/** A connection of `pg`, or of another client with the same method. */
export interface PostgresConnection {
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** A `Pool` of `pg`. */
export interface PostgresPool extends PostgresConnection {
  connect(): Promise<PooledConnection>;
}

interface PooledConnection extends PostgresConnection {
  release(isBroken?: boolean): void;
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
}

/** The pool listens only to idle connections. An error event without a listener ends the process. */
const ignoreError = () => {};

export interface PostgresStore extends EventStore {
  /**
   * Stores in one transaction what `write` writes through the connection that it gets and that the event is handled, so that
   * the effect is there exactly once, whatever crashes when. Call it once, inside the event's handler; what the handler does
   * afterwards is not repeated. `write` returns its promise, does not end the transaction, and has the connection only until it
   * is done; in it, the pool itself refuses (Node 20.16, Bun, Deno). After `leaseMs` its connection is closed. The handler holds
   * no connection of the same pool meanwhile: where all of them are held so, none is left for `commit`.
   *
   * Rejects, and stores nothing, if the event's lease was taken over meanwhile.
   */
  commit(event: HandledEvent, write: (connection: PostgresConnection) => Promise<unknown>): Promise<void>;
}

/**
 * Handled events in a table of PostgreSQL, for any number of processes. A handler runs under a lease and outside of any
 * transaction. What it does is done at least once: it runs again, after the lease of `leaseMs` (60 s by default, by the
 * database's clock), if the process dies before the event is stored as handled, or if it takes longer than that; a late handler
 * then stores nothing. With `commit`, what it writes to the same database is there exactly once.
 *
 * While another process handles an event, calls for it reject. The table is made with the first event, if there is none.
 */
export function postgresStore(
  pool: PostgresPool,
  { table = "handled_ad_events", leaseMs = 60_000 }: TableOptions = {},
): PostgresStore {
  requireMethods(pool, ["query", "connect"], poolNeeded);
  requireTableName(table, /^([a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*$/);
  guardPool(pool);
  const isLeaseOver = "claimed.handled_at is null and claimed.leased_until <= clock_timestamp()";
  const statements = {
    create: `create table if not exists ${table} (event_id text primary key, owner text not null,
      leased_until timestamptz not null, handled_at timestamptz)`,
    claim: `insert into ${table} as claimed (event_id, owner, leased_until)
      values ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
      on conflict (event_id) do update set owner = excluded.owner, leased_until = excluded.leased_until
      where ${isLeaseOver} returning 1`,
    isHandled: `select 1 from ${table} where event_id = $1 and handled_at is not null`,
    finish: `update ${table} set handled_at = clock_timestamp() where event_id = $1 and owner = $2 and handled_at is null`,
    release: `delete from ${table} where event_id = $1 and owner = $2 and handled_at is null`,
  };

  const setUp = tableOf(pool, table, statements.create);
  const finish = async (connection: PostgresConnection, { eventId, owner }: Run) =>
    (await connection.query(statements.finish, [eventId, owner])).rowCount === 1;

  const store = leasedStore(
    {
      async claim({ eventId, owner }) {
        await setUp();
        if ((await pool.query(statements.claim, [eventId, owner, leaseMs])).rows.length > 0) return "claimed";
        return (await pool.query(statements.isHandled, [eventId])).rows.length > 0 ? "handled" : "leased";
      },
      finish: (run) => finish(pool, run),
      release: ({ eventId, owner }) => pool.query(statements.release, [eventId, owner]),
    },
    { leaseMs },
  );
  return {
    once: store.once,
    joins: joinsIn(pool, `${table}_joins`),
    commit: (event, write) =>
      store.commit(event, (run) =>
        transact(pool, Math.max(leaseMs, MIN_LIMIT_MS), async (connection) => {
          requireConnectionFunction(write);
          // Before `write`: another run that takes the lease over waits for the transaction, and what ends it all the same
          // stores the event together with the effect.
          if (run && !(await finish(connection, run))) return false;
          await connection.query("savepoint before_write");
          await writeThrough({ connection, pool }, write);
          await requireOpenTransaction(connection);
          return true;
        }),
      ),
  };
}

/** Creates the table at the first call. Looks first: who may not create tables may use one. */
function tableOf(pool: PostgresPool, table: string, create: string): () => Promise<void> {
  let ready: Promise<void> | undefined;
  async function exists(): Promise<boolean> {
    const { rows } = await pool.query("select 1 where to_regclass($1) is not null", [table]);
    // Some clients return the rows themselves.
    if (!Array.isArray(rows)) throw new TypeError(poolNeeded);
    return rows.length > 0;
  }
  async function createTable(): Promise<void> {
    if (await exists()) return;
    await pool.query(create).catch(async (error: unknown) => {
      // Another process created it at the same time.
      if (!(await exists())) throw error;
    });
  }
  return () => {
    ready ??= createTable().catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };
}

function joinsIn(pool: PostgresPool, table: string): JoinStore {
  const { create, put, get, late, remove } = joinStatements(table);
  const setUp = tableOf(pool, table, create);
  async function run(sql: string, values: string[]): Promise<unknown[]> {
    await setUp();
    return (await pool.query(sql, values)).rows;
  }
  return {
    put: async (join) => void (await run(put, joinValues(join))),
    get: async (chatId, userId) => (await run(get, [chatId, userId])).map(joinOf)[0],
    late: async (now) => (await run(late, [momentText(now)])).map(joinOf),
    remove: async (join) => void (await run(remove, joinValues(join))),
  };
}

/** Fails if `write` ended the transaction, and if it went on after an error, so that it could not be committed. */
async function requireOpenTransaction(connection: PostgresConnection): Promise<void> {
  try {
    await connection.query("release savepoint before_write");
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (code !== "25P01" && code !== "3B001") throw error;
    const message = "the transaction of commit() was ended in its function: remove the commit or rollback in it";
    throw new Error(message, { cause: error });
  }
}

/** A busy machine takes longer than a very short lease for a connection and a transaction. */
const MIN_LIMIT_MS = 2000;

/** A transaction that is open longer than the limit ends with its connection: nothing else would end it. */
async function transact(
  pool: PostgresPool,
  limitMs: number,
  work: (connection: PostgresConnection) => Promise<boolean>,
): Promise<boolean> {
  const connection = await takeInTime(pool, limitMs);
  // Its queries reject with the same error.
  connection.on?.("error", ignoreError);
  let isBroken = false;
  let isStored = false;
  const run = async () => {
    await connection.query("begin");
    const isOwned = await work(connection);
    // The connection of a late transaction is closed.
    if (isBroken) return;
    await connection.query(isOwned ? "commit" : "rollback");
    isStored = isOwned;
  };
  try {
    await inTime(run(), limitMs, "the transaction of commit()");
    return isStored;
  } catch (error) {
    if (error instanceof LateError) isBroken = true;
    else await connection.query("rollback").catch(() => (isBroken = true));
    throw error;
  } finally {
    if (!isBroken) connection.off?.("error", ignoreError);
    connection.release(isBroken);
  }
}

/** One that comes later goes back. */
async function takeInTime<Connection extends { release(): void }>(
  pool: { connect(): Promise<Connection> },
  limitMs: number,
): Promise<Connection> {
  const taken = takeFromPool(pool);
  try {
    await inTime(
      taken.then(() => {}),
      limitMs,
      "a connection of the pool",
    );
    return await taken;
  } catch (error) {
    if (!(error instanceof LateError)) throw error;
    taken.then(
      (connection) => connection.release(),
      () => {},
    );
    throw new Error(
      `commit() got no connection of the pool in ${limitMs} ms: take none of the same pool before it in the handler, or make the pool's max larger`,
      { cause: error },
    );
  }
}
