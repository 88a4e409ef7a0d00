import { EventEmitter } from "node:events";
import pg from "pg";
import { columnTypes, type DatabaseLogger, type DatabaseStore, sessionSettings } from "./database-store.ts";
import { readyStoreFolder } from "./embedded-folder.ts";
import { PgliteStream } from "./pglite-stream.ts";
import { startEmbeddedEngine } from "./start-embedded-engine.ts";
import { EngineDeath, faultOfDeath, type StoreFault } from "./store-faults.ts";
import { analyze, analyzeGrown, lookEvery } from "./store-upkeep.ts";

/** The intervals and thresholds of the upkeep. */
export interface UpkeepPace {
  readonly lookEverySeconds: number;
  readonly checkpointEverySeconds: number;
  readonly checkpointAtBytes: number;
  readonly vacuumEverySeconds: number;
  /** The age of a table's oldest transaction number, in transactions. */
  readonly freezeAtAge: number;
}

const usualPace: UpkeepPace = {
  // The log exceeds `checkpointAtBytes` by what is written between two checks.
  lookEverySeconds: 1,
  checkpointEverySeconds: 60,
  checkpointAtBytes: 64 * 1024 * 1024,
  vacuumEverySeconds: 10 * 60,
  // Transaction numbers wrap around after two thousand million.
  freezeAtAge: 200_000_000,
};

/**
 * PGlite has no background processes: without this its write-ahead log grows without limit (measured: 2.4 GB, and 7 s to
 * open again). Runs CHECKPOINT each minute or after 64 MB, ANALYZE of doubled tables immediately, and every ten minutes
 * VACUUM and ANALYZE of the tables that need it.
 *
 * The engine does one thing at a time, so each step is short and requests run between the steps. The longest is the VACUUM
 * of a large table: half a second to one second for 500,000 rows and two indexes, after a tenth of the rows has changed.
 *
 * @returns a function that stops it after the step under way.
 */
export function startEmbeddedUpkeep(
  pool: pg.Pool,
  schema: string,
  logger: DatabaseLogger | undefined,
  pace: UpkeepPace = usualPace,
): () => Promise<void> {
  let checkpointed = { at: Date.now(), position: 0 };
  let vacuumedAt = Date.now();

  return lookEvery(pace.lookEverySeconds, logger, async (isStopping) => {
    const position = await writtenBytes(pool);
    const written = position - checkpointed.position;
    if (written >= pace.checkpointAtBytes || (written > 0 && isDue(checkpointed.at, pace.checkpointEverySeconds))) {
      await pool.query("checkpoint");
      // Read again: the checkpoint itself writes a record, which must not trigger the next checkpoint.
      checkpointed = { at: Date.now(), position: await writtenBytes(pool) };
    }
    await analyzeGrown(pool, schema, isStopping);
    if (isDue(vacuumedAt, pace.vacuumEverySeconds)) {
      for (const step of await vacuumSteps(pool, schema, pace.freezeAtAge)) if (!isStopping()) await pool.query(step);
      vacuumedAt = Date.now();
    }
  });
}

function isDue(lastAt: number, everySeconds: number): boolean {
  return Date.now() - lastAt >= everySeconds * 1000;
}

async function writtenBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ position: number }>(
    "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8 as position",
  );
  return rows[0]?.position ?? 0;
}

/** The rules of PostgreSQL's own autovacuum, with higher minimum row counts; freezing includes the catalogues. */
async function vacuumSteps(pool: pg.Pool, schema: string, freezeAtAge: number): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; freeze: boolean; vacuum: boolean; isChanged: boolean }>(
    `select format('%I.%I', nspname, relname) as name, age(relfrozenxid) > $2 as freeze,
      nspname = $1 and (dead >= 1000 + 0.1 * live or inserted >= 10000 + 0.2 * live) as vacuum,
      nspname = $1 and changed >= 500 + 0.1 * live as "isChanged"
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    cross join lateral (
      select greatest(reltuples, 0) as live, pg_stat_get_dead_tuples(pg_class.oid) as dead,
        pg_stat_get_ins_since_vacuum(pg_class.oid) as inserted, pg_stat_get_mod_since_analyze(pg_class.oid) as changed
    ) as counts
    where relkind in ('r', 'm') and relpersistence = 'p'`,
    [schema, freezeAtAge],
  );
  return rows.flatMap(({ name, freeze, vacuum, isChanged }) => [
    ...(freeze ? [`vacuum (freeze) ${name}`] : vacuum ? [`vacuum ${name}`] : []),
    ...(isChanged ? [analyze(name)] : []),
  ]);
}

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
