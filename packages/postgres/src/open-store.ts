import pg from "pg";
import { enterCommitEpoch } from "./commit-epoch.ts";
import type { DatabaseLimits, DatabaseLogger, DatabaseStore } from "./database-store.ts";
import { endPool, openPool } from "./open-pool.ts";
import { ofStore } from "./run-transaction.ts";
import { listeningSettings, sessionSettings } from "./session-settings.ts";
import { holdSession, nameSession, newSessionNumber } from "./store-session.ts";
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
  {
    lookEveryMs = 10_000,
    sessionNumber,
  }: { readonly lookEveryMs?: number | undefined; readonly sessionNumber?: number | undefined } = {},
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
      await next.query(listeningSettings);
      if (sessionNumber !== undefined) await next.query(holdSession(sessionNumber));
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
  const sessionNumber = newSessionNumber();
  const { connection, pool, breakConnections } = openPool({
    server,
    schema,
    poolSize,
    limits,
    logger,
    onConnect: async (client) => {
      await client.query(nameSession(sessionNumber));
      // A new connection may reach a server that was restored or promoted meanwhile.
      await enterCommitEpoch(client, schema);
    },
  });
  const listener = listenForever(connection, schema, logger, { sessionNumber });
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

async function onOwnConnection<T>(
  connection: pg.ClientConfig,
  schema: string,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> {
  const client = new pg.Client(connection);
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(`${sessionSettings(schema)}; set statement_timeout to 0`);
    return await work(client);
  } finally {
    await client.end();
  }
}
