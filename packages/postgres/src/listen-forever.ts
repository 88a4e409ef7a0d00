import pg from "pg";
import type { DatabaseLogger } from "./database-logger.ts";

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
  let looking: NodeJS.Timeout | undefined;
  const nameOf = (channel: string) => `${schema}.${channel}`;

  async function connect(): Promise<void> {
    const next = new pg.Client({ ...connection, query_timeout: 5000 });
    client = next;
    next.on("notification", ({ channel, payload }) => {
      for (const listener of listeners.get(channel) ?? []) listener(payload ?? "");
    });
    next.on("error", (error) => {
      logger?.warn({ err: error }, "the listening connection broke");
      if (client === next) reconnectSoon();
    });
    try {
      await next.connect();
      for (const channel of listeners.keys()) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
      if (client === next) lookAfter(next);
    } catch (error) {
      logger?.warn({ err: error }, "the listening connection could not be made");
      if (client === next) reconnectSoon();
    }
  }

  function lookAfter(current: pg.Client): void {
    looking = setTimeout(() => {
      current.query("select").then(
        () => {
          if (client === current) lookAfter(current);
        },
        (error) => {
          if (client !== current) return;
          logger?.warn({ err: error }, "the listening connection does not respond");
          reconnectSoon();
        },
      );
    }, lookEveryMs).unref();
  }

  function reconnectSoon(): void {
    const old = client;
    client = undefined;
    clearTimeout(looking);
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
      clearTimeout(looking);
      const last = client;
      client = undefined;
      await last?.end().catch(() => {});
    },
  };
}
