import type pg from "pg";

/** So many rows, and twice as many as the planner knows of: the plans of a small table do not fit it any more. */
const FEWEST_ROWS = 250;

/**
 * Lets the planner count the tables of `schema` that have doubled since it last did, which also has plans kept by sessions
 * made anew.
 *
 * A plan is kept (see `sessionSettings`), and on a table that nobody has counted all indexes that begin with the same
 * column look alike: sessions were looked up by their bot alone, each look-up reading all of the bot's. A server's own
 * autovacuum comes by once a minute, an embedded store has none.
 */
export async function analyzeGrown(pool: pg.Pool, schema: string, isStopping: () => boolean): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = $1 and relkind = 'r'
      and pg_stat_get_live_tuples(pg_class.oid) >= ${FEWEST_ROWS} + 2 * greatest(reltuples, 0)`,
    [schema],
  );
  const faults: unknown[] = [];
  // One table that cannot be analyzed must not keep the others from it.
  for (const { name } of rows) {
    if (!isStopping()) await pool.query(analyze(name)).catch((fault) => faults.push(fault));
  }
  if (faults.length > 0) throw new AggregateError(faults, `${faults.length} tables could not be analyzed`);
}

/** A tenth of the usual sample: it costs as much of the time, and here no plan hangs on a percent. */
export function analyze(table: string): string {
  // Where another node is counting it right now, that one's count does for both.
  return `set default_statistics_target to 10; analyze (skip_locked) ${table}; reset default_statistics_target`;
}
