import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { type Source, sources } from "./fact-sources.ts";

// One node adds at a time: the others skip the locked row and retry later. One row is the lock of all sources, since a fact of
// each may change the same sums, and two transactions would change them in different orders.
const claim = statement<{ xid: string; settled: string; now: Date }>(
  "statistics.claim",
  `select xid, settled_xid() as settled, clock_timestamp() as now
   from (select from stats_progress where source = 'requests' for update skip locked) as turn, stats_progress
   where source = $1`,
);

/**
 * Adds rows committed since the last run to the sums, one batch of each source. A row is counted when every
 * transaction that began before its own has ended, so that none commits behind the position up to which all are counted.
 * Sums and position commit together, so that a crash at any moment leaves either both or neither.
 */
export async function rollUpStatistics(database: Pick<Database, "transaction">): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const source of sources) {
    hasMore = (await database.transaction((tx) => addBatch(tx, source))) || hasMore;
  }
  return { hasMore };
}

async function addBatch(tx: Transaction, source: Source): Promise<boolean> {
  const [place] = await tx.run(claim, [source.name]);
  if (!place || BigInt(place.settled) <= BigInt(place.xid)) return false;
  const end = (await tx.run(source.end, [place.xid]))[0]?.xid;
  const upTo = end === undefined ? place.settled : endOfBatch(place, end);
  const isAll = upTo === place.settled;
  await tx.run(source.add, [place.xid, upTo, isAll ? place.now : null]);
  return !isAll;
}

/** A batch ends after at least one whole transaction, however many rows it wrote. */
function endOfBatch({ xid, settled }: { xid: string; settled: string }, end: string): string {
  const next = BigInt(end) > BigInt(xid) ? BigInt(end) : BigInt(xid) + 1n;
  return String(next < BigInt(settled) ? next : BigInt(settled));
}

const PRUNE_EVERY_MS = 60_000;

/** Rolls up every few seconds and prunes every minute until it is stopped. Any number of nodes may run it. */
export function startRollingUpStatistics(deps: {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
  now?: () => Date;
}): BackgroundLoop {
  const { database, log, everyMs = 5000, now = () => new Date() } = deps;

  let pruneAt = 0;

  /** Returns whether there is more to do immediately. */
  async function work(): Promise<boolean> {
    const rolledUp = await rollUpStatistics(database);
    if (rolledUp.hasMore || performance.now() < pruneAt) return rolledUp.hasMore;
    const pruned = await pruneVisitors(database, { now: now() });
    if (!pruned.hasMore) pruneAt = performance.now() + PRUNE_EVERY_MS;
    return pruned.hasMore;
  }

  return startLoop({
    everyMs,
    round: async () => ((await work()) ? 0 : undefined),
    onFault: (error) => log.error({ err: error }, "the statistics could not be rolled up; trying again"),
  });
}

/** Small enough not to delay other statements. */
const MAX_PRUNED_AT_ONCE = 1000;

// Limits read the rows of today and yesterday (UTC).
const prunes = ["address_days", "network_days"].map((table) =>
  statement<never>(
    `statistics.prune-${table}`,
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where day < ($1::timestamptz at time zone 'utc')::date - 1
       limit ${MAX_PRUNED_AT_ONCE} for update skip locked
     ))
     returning 1`,
  ),
);

// Only suspicious clicks have a visitor. Without suspicions a click leaves the index that finds it here.
const blankVisitors = statement<never>(
  "statistics.blank-visitors",
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
