import { EventEmitter } from "node:events";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { DatabaseLogger } from "./database-logger.ts";
import { startEmbeddedUpkeep } from "./embedded-upkeep.ts";
import { listenForever } from "./listen-forever.ts";
import { type Migrations, migrate } from "./migrate.ts";
import { PgliteStream } from "./pglite-stream.ts";

/** Hot SQL in plain sight, run as a named prepared statement. `Row` is the shape of what it returns. */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly row?: Row;
}

/** Names must be unique within a process: the name alone selects the prepared plan of a connection. At most 63 bytes. */
export function statement<Row>(name: string, text: string): Statement<Row> {
  return { name, text };
}

export interface Runner<Tables> {
  /** The query builder, for paths that are not hot. */
  readonly query: Kysely<Tables>;
  /** Runs a prepared statement; values are bound, never spliced. Rejects with pg's DatabaseError, whose `code` is the SQLSTATE. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
}

/** Inside `transaction`, use this and never the database: the embedded store has one session, which the transaction holds. */
export interface Transaction<Tables> extends Runner<Tables> {}

export interface Database<Tables> extends Runner<Tables> {
  readonly kind: "embedded" | "server";
  /** Commits when `work` resolves, rolls back when it rejects. Deadlocks and serialisation failures are tried again, three times. */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Notices are hints: some get lost while a connection is down. Returns the way to stop. */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  notify(channel: string, payload?: string): Promise<void>;
  close(): Promise<void>;
}

export interface OpenDatabaseOptions {
  /** A PostgreSQL server, 15 or newer. Without it an embedded PGlite is opened. */
  readonly databaseUrl?: string | undefined;
  /** Folder of this server's own data; the embedded store lives in `postgres` inside. One process per folder. */
  readonly dataDirectory: string;
  /** The PostgreSQL schema that holds all tables; made if missing. */
  readonly schema: string;
  readonly migrations: Migrations;
  readonly logger?: DatabaseLogger | undefined;
  /** Connections to a server; the embedded store has one session. */
  readonly poolSize?: number | undefined;
}

/**
 * Opens the store and brings its tables up to date.
 *
 * Prepared statements are planned anew each time: a plan made while a table was empty stays in use after it has grown
 * (measured: following links on a fresh database fell to a quarter within 5,000 clicks).
 *
 * The same dialect either way: `search_path` is the schema, the time zone UTC, `int8` comes as a number (it throws beyond
 * 2^53), `timestamptz` as a Date, `xid8` as a string. The embedded store survives the death of the process, not that of
 * the machine: PGlite never calls fsync.
 */
export async function openDatabase<Tables>(options: OpenDatabaseOptions): Promise<Database<Tables>> {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(options.schema)) throw new Error(`"${options.schema}" is no name for a schema`);
  const store =
    options.databaseUrl === undefined ? await openEmbedded(options) : openServer(options, options.databaseUrl);
  store.pool.on("error", (error) => options.logger?.warn({ err: error }, "an idle database connection broke"));
  try {
    await migrate(store.pool, options.schema, options.migrations);
  } catch (error) {
    await store.close();
    throw error;
  }
  await store.startUpkeep?.();
  return databaseOver<Tables>(store);
}

interface Store {
  readonly kind: "embedded" | "server";
  readonly pool: pg.Pool;
  startUpkeep?(): Promise<void>;
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>>;
  notify(channel: string, payload: string): Promise<void>;
  close(): Promise<void>;
}

const int8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: (id: number, format?: "text" | "binary") =>
    id === int8
      ? parseInt8
      : format === "binary"
        ? pg.types.getTypeParser(id, "binary")
        : pg.types.getTypeParser(id, "text"),
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Error(`${text} does not fit a JavaScript number`);
  return value;
}

function openServer(options: OpenDatabaseOptions, databaseUrl: string): Store {
  const connection: pg.PoolConfig = {
    connectionString: databaseUrl,
    application_name: `intermission ${options.schema}`,
    options: `-c search_path=${options.schema} -c timezone=UTC -c plan_cache_mode=force_custom_plan -c idle_in_transaction_session_timeout=30000`,
    statement_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    types,
  };
  const pool = new pg.Pool({ ...connection, max: options.poolSize ?? 10, idleTimeoutMillis: 60_000 });
  const listener = listenForever(connection, options.logger);
  return {
    kind: "server",
    pool,
    listen: listener.listen,
    async notify(channel, payload) {
      await pool.query("select pg_notify($1, $2)", [`${options.schema}.${channel}`, payload]);
    },
    async close() {
      await listener.close();
      await pool.end();
    },
  };
}

async function openEmbedded(options: OpenDatabaseOptions): Promise<Store> {
  // Loaded only where it is used: a node on a PostgreSQL server never pays for it.
  const { PGlite } = await import("@electric-sql/pglite");
  const folder = join(options.dataDirectory, "postgres");
  await mkdir(options.dataDirectory, { recursive: true, mode: 0o700 });
  const engine = await PGlite.create(folder);
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 60_000,
    user: "postgres",
    database: "postgres",
    stream: () => new PgliteStream(engine),
    types,
  });
  // The engine has one session for ever; a client that replaces a broken one finds the other's statements there.
  pool.on("connect", (client) => {
    client
      .query(
        `deallocate all; set search_path to ${options.schema}; set timezone to 'UTC'; set plan_cache_mode to force_custom_plan`,
      )
      .catch(() => {});
  });
  const notices = new EventEmitter().setMaxListeners(0);
  let stopUpkeep = async () => {};
  return {
    kind: "embedded",
    pool,
    async startUpkeep() {
      stopUpkeep = startEmbeddedUpkeep(pool, options.logger);
    },
    async listen(channel, onNotify) {
      notices.on(channel, onNotify);
      return async () => {
        notices.off(channel, onNotify);
      };
    },
    async notify(channel, payload) {
      notices.emit(channel, payload);
    },
    async close() {
      await stopUpkeep();
      await pool.end();
      await engine.close();
    },
  };
}

function databaseOver<Tables>(store: Store): Database<Tables> {
  const { pool } = store;
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    kind: store.kind,
    query,
    async run(toRun, values) {
      const client = await pool.connect();
      return runOn(client, toRun, values).finally(() => client.release(isBroken(client)));
    },
    async transaction(work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await transactionOn(pool, work);
        } catch (error) {
          if (attempt > 3 || !isRetriable(error)) throw error;
        }
      }
    },
    listen: store.listen,
    notify: (channel, payload = "") => store.notify(channel, payload),
    close: store.close,
  };
}

async function transactionOn<Tables, T>(pool: pg.Pool, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // A Kysely whose pool hands out this one client, so that the builder joins the transaction.
  const lent = { connect: async () => ({ query: client.query.bind(client), release: () => {} }), end: async () => {} };
  const query = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: lent as unknown as pg.Pool }) });
  try {
    await client.query("begin");
    const result = await work({ query, run: (toRun, values) => runOn(client, toRun, values) });
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(() => markBroken(client));
    throw error;
  } finally {
    client.release(isBroken(client));
  }
}

const broken = new WeakSet<pg.ClientBase>();
const markBroken = (client: pg.ClientBase) => void broken.add(client);
const isBroken = (client: pg.ClientBase) => broken.has(client);

async function runOn<Row>(
  client: pg.ClientBase,
  { name, text }: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  try {
    const { rows } = await client.query({ name, text, values: [...values] });
    return rows;
  } catch (error) {
    // An answer of the server leaves the connection whole; anything else may not.
    if (!(error instanceof pg.DatabaseError) || error.code?.startsWith("57P")) markBroken(client);
    throw error;
  }
}

function isRetriable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40P01" || error.code === "40001");
}
