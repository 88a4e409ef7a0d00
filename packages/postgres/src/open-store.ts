import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { enterCommitEpoch } from "./commit-epoch.ts";
import {
  columnTypes,
  type DatabaseLimits,
  type DatabaseLogger,
  type DatabaseStore,
  sessionSettings,
} from "./database-store.ts";
import { ofStore } from "./run-transaction.ts";
import { analyzeGrown, lookEvery } from "./store-upkeep.ts";
import { watchSilence } from "./watch-silence.ts";

/**
 * A separate connection that listens and reconnects when it breaks. Opened with the first listener. It sends an empty query
 * regularly, because a connection that only waits does not notice that the other end is gone.
 */
export function listenForever(
  connection: pg.ClientConfig,
  schema: string,
  logger: DatabaseLogger | undefined,
  { lookEveryMs = 10_000 }: { readonly lookEveryMs?: number | undefined } = {},
) {
  const listeners = new Map<string, Set<(payload: string) => void>>();
  let client: pg.Client | undefined;
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  let stopAsking = () => {};
  const nameOf = (channel: string) => `${schema}.${channel}`;

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connection, query_timeout: 5000 });
    client = next;
    const lose = (error: unknown, message: string) => {
      ofStore(error);
      logger?.warn({ err: error }, message);
      if (client === next) reconnectSoon();
    };
    next.on("notification", ({ channel, payload }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload ?? "");
    });
    next.on("error", (error) => lose(error, "the listening connection broke"));
    try {
      await next.connect();
      for (const channel of listeners.keys()) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (client !== next) return;
      stopAsking = askRegularly(next, {
        everyMs: lookEveryMs,
        onSilence: (error) => lose(error, "the listening connection does not respond"),
      });
    } catch (error) {
      lose(error, "the listening connection could not be made");
    }
  }

  function reconnectSoon(): void {
    const old = client;
    client = undefined;
    stopAsking();
    old?.end().catch(() => {});
    if (isClosed || retry) return;
    retry = setTimeout(() => {
      retry = undefined;
      void connect();
    }, 1000);
    retry.unref();
  }

  return {
    async listen(channel: string, onNotify: (payload: string) => void): Promise<() => Promise<void>> {
      const name = nameOf(channel);
      const known = listeners.get(name);
      if (known) known.add(onNotify);
      else listeners.set(name, new Set([onNotify]));
      if (client === undefined && !retry) await connect();
      else if (!known) await client?.query(`listen ${pg.escapeIdentifier(name)}`).catch(reconnectSoon);
      return async () => {
        listeners.get(name)?.delete(onNotify);
      };
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(retry);
      stopAsking();
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}

/** Sends an empty query again and again until one fails, or until the returned function is called. */
function askRegularly(
  client: pg.Client,
  { everyMs, onSilence }: { readonly everyMs: number; readonly onSilence: (error: Error) => void },
): () => void {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const askLater = () => {
    timer = setTimeout(() => {
      client.query("select").then(
        () => {
          if (!isStopped) askLater();
        },
        (error) => {
          if (!isStopped) onSilence(error);
        },
      );
    }, everyMs).unref();
  };
  askLater();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

const LOOK_EVERY_SECONDS = 2;

/** A pool of connections to a PostgreSQL server. Connects on first use. */
export function openStore(options: {
  readonly server: pg.ClientConfig;
  readonly schema: string;
  readonly poolSize: number;
  readonly limits: DatabaseLimits;
  readonly logger: DatabaseLogger | undefined;
}): DatabaseStore {
  const { server, schema, poolSize, limits, logger } = options;
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
      // A new connection may reach a server that was restored or promoted meanwhile.
      await enterCommitEpoch(client, schema);
    },
  });
  const clients = survivedLosses(pool, logger);
  const breakConnections = (error: Error) => {
    for (const client of clients) client.connection.stream.destroy(error);
  };
  const listener = listenForever(connection, schema, logger);
  let stopUpkeep = async () => {};
  return {
    pool,
    watch: () => watchSilence({ connection, silentMs: limits.silentMs, breakConnections, logger }),
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
      await endPool(pool);
    },
  };
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
async function endPool(pool: pg.Pool): Promise<void> {
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
