import pg from "pg";
import { analyzeGrown } from "./analyze-grown.ts";
import { enterCommitEpoch } from "./commit-epoch.ts";
import type { DatabaseLogger } from "./database-logger.ts";
import { columnTypes, type DatabaseStore, sessionSettings } from "./database-store.ts";
import { listenForever } from "./listen-forever.ts";
import { lookEvery } from "./look-every.ts";

const LOOK_EVERY_SECONDS = 2;

/** A pool of connections to a PostgreSQL server. Connects on first use. */
export function openServerStore(options: {
  readonly databaseUrl: string;
  readonly schema: string;
  readonly poolSize: number;
  readonly logger: DatabaseLogger | undefined;
}): DatabaseStore {
  const { databaseUrl, schema, poolSize, logger } = options;
  const connection: pg.ClientConfig = {
    connectionString: databaseUrl,
    application_name: `intermission ${schema}`,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: columnTypes,
  };
  const pool = new pg.Pool({
    ...connection,
    max: poolSize,
    idleTimeoutMillis: 60_000,
    // The server's own timeout is 30 s; this one is for a server that vanished, which TCP detects after minutes.
    query_timeout: 40_000,
    onConnect: async (client) => {
      await client.query(
        `${sessionSettings(schema)}; set statement_timeout to '30s'; set idle_in_transaction_session_timeout to '30s'`,
      );
      // A new connection may reach a server that was restored or promoted meanwhile.
      await enterCommitEpoch(client, schema);
    },
  });
  survivedLosses(pool, logger);
  const listener = listenForever(connection, schema, logger);
  let stopUpkeep = async () => {};
  return {
    kind: "server",
    pool,
    withoutTimeout: (work) => onOwnConnection(connection, schema, work),
    startUpkeep() {
      stopUpkeep = lookEvery(LOOK_EVERY_SECONDS, logger, (isStopping) => analyzeGrown(pool, schema, isStopping));
    },
    listen: listener.listen,
    async notify(channel, payload) {
      await pool.query("select pg_notify($1, $2)", [`${schema}.${channel}`, payload]);
    },
    async close() {
      await stopUpkeep();
      await listener.close();
      await pool.end();
    },
  };
}

/**
 * A connection that breaks emits `error`, and an `error` without a listener ends the process. The pool listens on idle
 * connections only; on a lent one the query under way, or the next one, rejects as well.
 */
function survivedLosses(pool: pg.Pool, logger: DatabaseLogger | undefined): void {
  const onLoss = (error: Error) => logger?.warn({ err: error }, "a database connection broke");
  pool.on("connect", (client) => client.on("error", onLoss));
  pool.on("error", () => {});
}

async function onOwnConnection(
  connection: pg.ClientConfig,
  schema: string,
  work: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  const client = new pg.Client(connection);
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(`${sessionSettings(schema)}; set statement_timeout to 0`);
    await work(client);
  } finally {
    await client.end();
  }
}
