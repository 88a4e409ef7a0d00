import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";

/** Small enough not to delay other statements. */
const MAX_PRUNED_AT_ONCE = 1000;

// Limits read the rows of today and yesterday (UTC).
const prunes = ["address_days", "network_days"].map((table) =>
  statement<never>(
    `retention.prune-${table}`,
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where day < ($1::timestamptz at time zone 'utc')::date - 1
       limit ${MAX_PRUNED_AT_ONCE} for update skip locked
     ))
     returning 1`,
  ),
);

// Only suspicious clicks have a visitor. Without suspicions a click leaves the index that finds it here.
const blankVisitors = statement<never>(
  "retention.blank-visitors",
  `update events set suspicions = null, user_agent = null, address_hash = null, network_hash = null
   where ctid = any (array(
     select ctid from events where suspicions is not null and occurred_at < $1::timestamptz - interval '13 months'
     limit ${MAX_PRUNED_AT_ONCE} for update skip locked
   ))
   returning 1`,
);

/** Deletes one small batch of each kind of rows about visitors that are no longer needed. */
export async function pruneVisitors(
  database: Pick<Database, "run">,
  { now }: { now: Date },
): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const prune of [...prunes, blankVisitors])
    hasMore = (await database.run(prune, [now])).length >= MAX_PRUNED_AT_ONCE || hasMore;
  return { hasMore };
}

const EVERY_MS = 60_000;

/** Prunes every minute, while the clock is settled, until it is stopped. Any number of nodes may run it. */
export function startPruningVisitors(deps: {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
  now: () => Date;
  isClockSettled: () => boolean;
}): BackgroundLoop {
  const { database, log, now, isClockSettled } = deps;
  return startLoop({
    everyMs: EVERY_MS,
    round: async () => (isClockSettled() && (await pruneVisitors(database, { now: now() })).hasMore ? 0 : undefined),
    onFault: (error) => log.error({ err: error }, "rows about visitors could not be removed; trying again"),
  });
}
