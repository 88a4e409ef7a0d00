import type pg from "pg";
import type { DatabaseLogger } from "./database-store.ts";
import { ofStore } from "./run-transaction.ts";

/**
 * Runs a store's upkeep at a fixed interval, never concurrently; a failed run is logged, and the next one tries again.
 *
 * @returns a function that stops it after the run under way, which sees `isStopping`.
 */
export function lookEvery(
  seconds: number,
  logger: DatabaseLogger | undefined,
  look: (isStopping: () => boolean) => Promise<void>,
): () => Promise<void> {
  let isStopping = false;
  let running: Promise<void> | undefined;
  const timer = setInterval(() => {
    running ??= look(() => isStopping)
      .catch((error) => {
        ofStore(error);
        logger?.warn({ err: error }, "the store's upkeep failed");
      })
      .finally(() => {
        running = undefined;
      });
  }, seconds * 1000);
  timer.unref();
  return async () => {
    isStopping = true;
    clearInterval(timer);
    await running;
  };
}

/** A table is analyzed when it has this many rows plus twice the planner's count: plans for a small table no longer fit. */
const MIN_ROWS = 250;

/**
 * Analyzes the tables of `schema` that have doubled since their last ANALYZE, which also makes sessions replan their
 * cached plans.
 *
 * Plans are cached (see `sessionSettings`), and for a table without statistics all indexes with the same first column look
 * alike: views were looked up by their bot alone, and each look-up read all views of the bot. PostgreSQL's own
 * autovacuum runs only once a minute.
 */
export async function analyzeGrown(pool: pg.Pool, schema: string, isStopping: () => boolean): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = $1 and relkind = 'r'
      and pg_stat_get_live_tuples(pg_class.oid) >= ${MIN_ROWS} + 2 * greatest(reltuples, 0)`,
    [schema],
  );
  const faults: unknown[] = [];
  // A table that cannot be analyzed must not prevent the analysis of the others.
  for (const { name } of rows) {
    if (!isStopping()) await pool.query(analyze(name)).catch((fault) => faults.push(fault));
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} tables could not be analyzed`);
}

/** Uses a tenth of the default sample, which takes a tenth of the time; no plan here needs more precise statistics. */
function analyze(table: string): string {
  // If another node is analyzing the table right now, its statistics serve both.
  return `set default_statistics_target to 10; analyze (skip_locked) ${table}; reset default_statistics_target`;
}
