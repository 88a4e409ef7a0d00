import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { columnTypes, type DatabaseLimits, type DatabaseLogger } from "./database-store.ts";
import { giveBack, ofStore } from "./run-transaction.ts";
import { sessionSettings } from "./session-settings.ts";
import type { SilenceWatch } from "./watch-silence.ts";

/**
 * A pool of connections with the settings of this package's sessions, which connects on first use. `connection` opens
 * further ones to the same server; `breakConnections` ends the statements under way.
 */
export function openPool(options: {
  readonly server: pg.ClientConfig;
  readonly schema: string;
  readonly poolSize: number;
  readonly limits: DatabaseLimits;
  readonly logger: DatabaseLogger | undefined;
  /** What each new connection does first. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<void>;
}) {
  const { server, schema, poolSize, limits, logger, onConnect } = options;
  const connection: pg.ClientConfig = {
    ...server,
    application_name: `intermission ${schema}`,
    connectionTimeoutMillis: limits.connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: columnTypes,
  };
  const pool = new pg.Pool({
    ...connection,
    max: poolSize,
    idleTimeoutMillis: 60_000,
    // After the server's own timeout: for a server that vanished, which TCP detects after minutes.
    query_timeout: limits.statementMs + 10_000,
    onConnect: async (client) => {
      await client.query(
        `${sessionSettings(schema)}; set statement_timeout to ${limits.statementMs}; set idle_in_transaction_session_timeout to '30s'`,
      );
      await onConnect?.(client);
    },
  });
  const clients = survivedLosses(pool, logger);
  const breakConnections = (error: Error) => {
    for (const client of clients) client.connection.stream.destroy(error);
  };
  return { connection, pool, breakConnections };
}

/** A connection from the pool; one that comes after the server became silent goes back. */
export async function lendConnection(pool: pg.Pool, watch: SilenceWatch): Promise<pg.PoolClient> {
  watch.requireAnswers();
  const connecting = pool.connect();
  try {
    return await watch.unlessSilent(connecting);
  } catch (error) {
    ofStore(error);
    connecting.then(giveBack, () => {});
    throw error;
  }
}

/**
 * A connection that breaks emits `error`, and an `error` without a listener ends the process. The pool listens on idle
 * connections only; on a lent one the query under way, or the next one, rejects as well. Returns the open connections.
 */
function survivedLosses(pool: pg.Pool, logger: DatabaseLogger | undefined): ReadonlySet<pg.Client> {
  const clients = new Set<pg.Client>();
  const onLoss = (error: Error) => {
    ofStore(error);
    logger?.warn({ err: error }, "a database connection broke");
  };
  pool.on("connect", (client) => {
    clients.add(client);
    client.on("error", onLoss);
  });
  pool.on("remove", (client) => clients.delete(client));
  pool.on("error", () => {});
  return clients;
}

const END_WITHIN_MS = 2000;

/**
 * Ends the pool and waits until its connections are closed, which `pool.end` does not: whoever then stops the database would
 * break them, and each would be logged as a fault.
 */
export async function endPool(pool: pg.Pool): Promise<void> {
  let open = pool.totalCount;
  const closed = new Promise<void>((resolve) => {
    if (open === 0) resolve();
    pool.on("remove", () => {
      open -= 1;
      if (open === 0) resolve();
    });
  });
  await pool.end();
  await Promise.race([closed, wait(END_WITHIN_MS, undefined, { ref: false })]);
}
