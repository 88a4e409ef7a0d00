import { AsyncLocalStorage } from "node:async_hooks";
import { enterCommitEpoch } from "./commit-epoch.ts";
import type { Database, Transaction } from "./database.ts";
import type { DatabaseLogger, DatabaseStore } from "./database-store.ts";
import { type Migrations, migrate, requireMigrated } from "./migrate.ts";
import { openEmbeddedStore } from "./open-embedded-store.ts";
import { openServerStore } from "./open-server-store.ts";
import { ask, giveBack, retryConflicts, runTransaction } from "./run-transaction.ts";
import { faultOfServer } from "./server-faults.ts";
import type { StoreFault } from "./store-faults.ts";

export {
  type Database,
  knownStatements,
  type Runner,
  type Statement,
  statement,
  type Transaction,
} from "./database.ts";

export interface OpenDatabaseOptions {
  /** A PostgreSQL server, 15 or newer. Without it an embedded PGlite is opened. */
  readonly databaseUrl?: string | undefined;
  /** Folder of this server's own data; the embedded store is in `postgres` inside. One process per folder. */
  readonly dataDirectory: string;
  /** The PostgreSQL schema of all tables; made if missing. */
  readonly schema: string;
  readonly migrations: Migrations;
  readonly logger?: DatabaseLogger | undefined;
  /** Connections to a server, 10 by default; the embedded store has one session. */
  readonly poolSize?: number | undefined;
  /** Opens only an existing store: no store, schema or table is created or changed. False by default. */
  readonly isExisting?: boolean | undefined;
  /**
   * Called once if the embedded engine ends unexpectedly, on a full disk for example. From then on every statement rejects:
   * the process should exit with an error and be started again.
   */
  readonly onDeath?: ((fault: StoreFault) => void) | undefined;
}

/**
 * Opens the store and migrates its tables.
 *
 * Both stores behave alike: `search_path` is the schema, the time zone UTC, `int8` is read as a number (it throws beyond
 * 2^53), `timestamptz` as a Date, `xid8` as a string. A restart of the database server fails the statements under way, not
 * the process. The embedded store survives a crash of the process, not of the machine: PGlite never calls fsync.
 *
 * Rejects with a `StoreFault` for faults that the operator can repair: a folder without a store, a damaged store, a full
 * disk, a server that does not answer or refuses the connection, a schema of a newer version.
 */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database> {
  const { databaseUrl, dataDirectory, schema, migrations, logger, poolSize = 10 } = options;
  const { isExisting = false, onDeath = () => {} } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) throw new Error(`"${schema}" is not a valid schema name`);
  const store =
    databaseUrl === undefined
      ? await openEmbeddedStore({ dataDirectory, schema, logger, mayCreate: !isExisting, onDeath })
      : openServerStore({ databaseUrl, schema, poolSize, logger });
  try {
    await store.withoutTimeout(async (client) => {
      await (isExisting ? requireMigrated(client, schema, migrations) : migrate(client, schema, migrations));
      await enterCommitEpoch(client, schema);
    });
  } catch (error) {
    await store.close();
    throw (databaseUrl !== undefined && faultOfServer(databaseUrl, error)) || error;
  }
  store.startUpkeep();
  return databaseOver(store);
}

function databaseOver({ kind, pool, listen, notify, close }: DatabaseStore): Database {
  // The transaction in whose work the code runs.
  const within = new AsyncLocalStorage<{ isOpen: boolean }>();
  // On the only session the statement would wait for its own transaction forever, and block all others.
  async function connect() {
    if (kind === "embedded" && within.getStore()?.isOpen)
      throw new Error("inside a transaction, run statements on the transaction and not on the database");
    return pool.connect();
  }
  return {
    kind,
    async run({ name, text }, values) {
      const client = await connect();
      try {
        return (await ask(client, { name, text, values: [...values] })).rows;
      } finally {
        giveBack(client);
      }
    },
    transaction: (work) =>
      retryConflicts(async () => {
        const client = await connect();
        const mark = { isOpen: true };
        // Promises that the work did not await may use the database after the end of the transaction.
        const run = (tx: Transaction) => within.run(mark, work, tx);
        return runTransaction(client, run).finally(() => {
          mark.isOpen = false;
        });
      }),
    listen,
    notify: (channel, payload = "") => notify(channel, payload),
    close,
  };
}
