import pg from "pg";
import type { DatabaseLogger } from "./database-logger.ts";

/** When the upkeep does what. */
export interface UpkeepPace {
  readonly lookEverySeconds: number;
  readonly checkpointEverySeconds: number;
  readonly checkpointAtBytes: number;
  readonly vacuumEverySeconds: number;
}

const usualPace: UpkeepPace = {
  lookEverySeconds: 5,
  checkpointEverySeconds: 60,
  checkpointAtBytes: 64 * 1024 * 1024,
  vacuumEverySeconds: 10 * 60,
};

/**
 * PGlite has no background processes: without this its write-ahead log grows without end (measured: 2.4 GB, and 7 s to
 * open again). CHECKPOINT each minute or 64 MB, VACUUM (ANALYZE) each ten minutes, while anything was written.
 *
 * @returns stops it, after the step under way.
 */
export function startEmbeddedUpkeep(
  pool: pg.Pool,
  schema: string,
  logger: DatabaseLogger | undefined,
  pace: UpkeepPace = usualPace,
): () => Promise<void> {
  let checkpointed = { at: Date.now(), position: 0 };
  let vacuumed = { at: Date.now(), position: 0 };
  let isStopping = false;
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    const position = await writtenBytes(pool);
    if (position > vacuumed.position && isDue(vacuumed.at, pace.vacuumEverySeconds)) {
      // Table by table: the engine works on one thing at a time, and requests go in between.
      for (const table of await tablesOf(pool, schema)) if (!isStopping) await pool.query(`vacuum (analyze) ${table}`);
      vacuumed = { at: Date.now(), position: await writtenBytes(pool) };
    }
    const written = position - checkpointed.position;
    if (written >= pace.checkpointAtBytes || (written > 0 && isDue(checkpointed.at, pace.checkpointEverySeconds))) {
      await pool.query("checkpoint");
      // Asked again: a checkpoint writes a record itself, which alone is no reason for the next.
      checkpointed = { at: Date.now(), position: await writtenBytes(pool) };
    }
  }

  const timer = setInterval(() => {
    running ??= look()
      .catch((error) => logger?.warn({ err: error }, "the embedded store's upkeep failed"))
      .finally(() => {
        running = undefined;
      });
  }, pace.lookEverySeconds * 1000);
  timer.unref();
  return async () => {
    isStopping = true;
    clearInterval(timer);
    await running;
  };
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

async function tablesOf(pool: pg.Pool, schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>("select tablename as name from pg_tables where schemaname = $1", [
    schema,
  ]);
  return rows.map(({ name }) => `${schema}.${pg.escapeIdentifier(name)}`);
}
