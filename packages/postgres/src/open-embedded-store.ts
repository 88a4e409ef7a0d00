import { EventEmitter } from "node:events";
import pg from "pg";
import type { DatabaseLogger } from "./database-logger.ts";
import { columnTypes, type DatabaseStore, sessionSettings } from "./database-store.ts";
import { readyStoreFolder } from "./embedded-folder.ts";
import { startEmbeddedUpkeep } from "./embedded-upkeep.ts";
import { PgliteStream } from "./pglite-stream.ts";
import { startEmbeddedEngine } from "./start-embedded-engine.ts";
import { EngineDeath, faultOfDeath, type StoreFault } from "./store-fault.ts";

/** Opens PGlite in `postgres` under the data directory, in a thread. It has one session, so the pool has one client. */
export async function openEmbeddedStore(options: {
  readonly dataDirectory: string;
  readonly schema: string;
  readonly logger: DatabaseLogger | undefined;
  readonly mayCreate: boolean;
  readonly onDeath: (fault: StoreFault) => void;
}): Promise<DatabaseStore> {
  const { dataDirectory, schema, logger, mayCreate, onDeath } = options;
  const folder = await readyStoreFolder(dataDirectory, { mayCreate });
  const engine = await startEmbeddedEngine(folder, {
    onDeath: (death) => onDeath(faultOfDeath(folder, death)),
  }).catch((error: unknown) => {
    throw error instanceof EngineDeath ? faultOfDeath(folder, error) : error;
  });
  const pool = new pg.Pool({
    max: 1,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: 60_000,
    user: "postgres",
    database: "postgres",
    stream: () => new PgliteStream(engine),
    types: columnTypes,
    // The engine has only one session: a client that replaces a broken one must reset its transaction and statements.
    onConnect: async (client) => {
      await client.query("rollback");
      await client.query(`deallocate all; ${sessionSettings(schema)}`);
    },
  });
  pool.on("connect", (client) => client.on("error", () => {}));
  pool.on("error", (error) => logger?.warn({ err: error }, "the embedded database's session broke"));
  const notices = new EventEmitter().setMaxListeners(0);
  let stopUpkeep = async () => {};
  return {
    kind: "embedded",
    pool,
    async withoutTimeout(work) {
      const client = await pool.connect();
      await work(client).finally(() => client.release());
    },
    startUpkeep() {
      stopUpkeep = startEmbeddedUpkeep(pool, schema, logger);
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
