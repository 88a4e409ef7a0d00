import type pg from "pg";
import { enterCommitEpoch } from "./commit-epoch.ts";
import { connectionWarning, readConnectionFacts } from "./connection-limit.ts";
import type { Database } from "./database.ts";
import type { DatabaseLimits, DatabaseLogger, DatabaseStore } from "./database-store.ts";
import { connectionOf } from "./database-url.ts";
import { joinCluster } from "./join-cluster.ts";
import { migrate, type OnStep, requireMigrated } from "./migrate.ts";
import { lendConnection } from "./open-pool.ts";
import { openStore } from "./open-store.ts";
import { requireUtf8 } from "./require-encoding.ts";
import { requireSessions } from "./require-sessions.ts";
import { ask, giveBack, retryConflicts, runTransaction } from "./run-transaction.ts";
import type { Migrations } from "./schema-state.ts";
import { faultOfServer } from "./server-faults.ts";
import { faultOfCluster, type StoreFault } from "./store-faults.ts";

export {
  type Database,
  knownStatements,
  ping,
  type Runner,
  type Statement,
  statement,
  type Transaction,
} from "./database.ts";

/** Connections of this process: `waiting` are requests that wait for one. */
interface PoolState {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

export interface OpenedDatabase extends Database {
  readonly poolState: () => PoolState;
  /**
   * Lends a new connection outside of the pool, without a statement timeout and with the schema as search path, for
   * statements that change the form of tables. It is closed afterwards. Rejects with a `StoreFault` as
   * `openDatabase` does.
   */
  withoutTimeout<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T>;
}

interface OpenDatabaseOptions {
  /** A PostgreSQL server, 15 or newer. Without it the embedded cluster of the data folder is used, and started if needed. */
  readonly databaseUrl?: string | undefined;
  /** The data folder, which the servers and command lines of one machine share; the embedded cluster is in `postgres` inside. */
  readonly dataDirectory: string;
  /** The PostgreSQL schema of all tables; made if missing. */
  readonly schema: string;
  readonly migrations: Migrations;
  readonly logger?: DatabaseLogger | undefined;
  /** Connections, 10 by default. */
  readonly poolSize?: number | undefined;
  /** 10 s for a connection, 2 s without any answer, and 30 s for a statement, by default. */
  readonly limits?: Partial<DatabaseLimits> | undefined;
  /** The `shared_buffers` of the embedded cluster, if this process starts it; 64 by default. */
  readonly buffersMegabytes?: number | undefined;
  /** Opens only an existing store: no store, schema or table is created or changed. False by default. */
  readonly isExisting?: boolean | undefined;
  /**
   * Called once if the server of the embedded cluster ends unexpectedly, on a full disk for example. From then on every
   * statement rejects: the process should exit with an error and be started again.
   */
  readonly onDeath?: ((fault: StoreFault) => void) | undefined;
  /** Of the program that opens the store, which remembers it: a refusal of another version names it. */
  readonly version?: string | undefined;
  /** Is told what the opening waits for. */
  readonly onStep?: OnStep | undefined;
}

/**
 * Opens the store and migrates its tables.
 *
 * `search_path` is the schema, the time zone UTC, `int8` is read as a number (it throws beyond 2^53), `timestamptz` as a
 * Date, `xid8` as a string. A restart of a database server fails the statements under way, not the process.
 *
 * Rejects with a `StoreFault` for faults that the operator can repair: a folder without a store, a damaged store, a full
 * disk, a server that does not answer or refuses the connection, a schema of a newer version.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<OpenedDatabase> {
  const { databaseUrl, dataDirectory, schema, migrations, logger, poolSize = 10 } = options;
  const limits = { connectMs: 10_000, silentMs: 2000, statementMs: 30_000, ...options.limits };
  const { isExisting = false, onDeath = () => {}, onStep = () => {}, buffersMegabytes = 64 } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new Error(`"${schema}" is not a valid schema name`);
  onStep(databaseUrl === undefined ? "the start of the embedded database" : "a connection to the database");
  const cluster =
    databaseUrl === undefined
      ? await joinCluster({ dataDirectory, mayCreate: !isExisting, buffersMegabytes, logger, onDeath })
      : undefined;
  const server = cluster?.connection ?? connectionOf(databaseUrl ?? "");
  const store = openStore({ server, schema, poolSize, limits, logger });
  const close = async () => {
    await store.close();
    await cluster?.leave();
  };
  const faultOf = (error: unknown) =>
    databaseUrl === undefined ? faultOfCluster(dataDirectory, error) : faultOfServer(databaseUrl, error);
  try {
    if (databaseUrl !== undefined) await requireSessions(databaseUrl);
    await store.withoutTimeout(async (client) => {
      if (databaseUrl !== undefined) await requireUtf8(client, databaseUrl);
      const state = isExisting
        ? await requireMigrated(client, schema, migrations)
        : await migrate(client, schema, migrations, { onStep, version: options.version });
      if (state.state === "ahead") {
        const facts = { schema, migrations: state.unknown };
        logger?.warn(
          facts,
          "the schema is of a newer version, which this one works with: end the update, or the rollback",
        );
      }
      await enterCommitEpoch(client, schema);
      const warning = logger && connectionWarning(await readConnectionFacts(client), { poolSize });
      if (warning !== undefined) logger?.warn({ poolSize }, warning);
    });
  } catch (error) {
    await close();
    throw faultOf(error) ?? error;
  }
  store.startUpkeep();
  return databaseOver(store, { close, faultOf });
}

function databaseOver(
  store: DatabaseStore,
  { close, faultOf }: { close: () => Promise<void>; faultOf: (error: unknown) => StoreFault | undefined },
): OpenedDatabase {
  const { pool, listen, notify } = store;
  const watch = store.watch();

  const lend = () => lendConnection(pool, watch);
  const disk = { isFull: false };
  const noteFullDisk = (error: unknown): never => {
    if (error instanceof Error && "code" in error && error.code === "53100") disk.isFull = true;
    throw error;
  };

  return {
    disk,
    withoutTimeout: (work) =>
      store.withoutTimeout(work).catch((error: unknown) => {
        throw faultOf(error) ?? error;
      }),
    poolState: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async run({ name, text }, values) {
      const client = await lend();
      try {
        const { rows } = await ask(client, { name, text, values: [...values] });
        watch.heard();
        return rows;
      } catch (error) {
        return noteFullDisk(error);
      } finally {
        giveBack(client);
      }
    },
    transaction: (work) => retryConflicts(async () => runTransaction(await lend(), work)).catch(noteFullDisk),
    listen,
    async notify(channel, payload = "") {
      watch.requireAnswers();
      await watch.unlessSilent(notify(channel, payload));
    },
    async close() {
      await watch.stop();
      await close();
    },
  };
}
