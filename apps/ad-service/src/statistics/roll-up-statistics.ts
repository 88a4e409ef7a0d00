import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { addFacts } from "./add-facts.ts";
import { type CounterSource, markAdded, type Source, sources } from "./fact-sources.ts";

// One node adds at a time: the others skip the locked row and retry later. One row is the lock of all sources, since a fact of
// each may change the same sums, and two transactions would change them in different orders.
const takeTurn = statement<never>(
  "statistics.take-turn",
  "select from stats_progress where source = 'requests' for update skip locked",
);
// A statement of its own sees the commit of the batch before. One statement that locks and reads could begin before that commit,
// take the lock after it, and read the old position: the batch would be added twice.
const readPlace = statement<{ xid: string; settled: string; now: Date }>(
  "statistics.read-place",
  "select xid, settled_xid() as settled, clock_timestamp() as now from stats_progress where source = $1",
);

// Up to the time `$3` all rows are counted.
const move = statement<never>(
  "statistics.move-position",
  `update stats_progress set xid = $2::xid8, counted_until = coalesce($3::timestamptz, counted_until) where source = $1`,
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

async function addBatch(tx: Transaction, source: Source | CounterSource): Promise<boolean> {
  if ((await tx.run(takeTurn, [])).length === 0) return false;
  const [place] = await tx.run(readPlace, [source.name]);
  if (!place || BigInt(place.settled) <= BigInt(place.xid)) return false;
  const end = (await tx.run(source.end, [place.xid]))[0]?.xid;
  const upTo = end === undefined ? place.settled : endOfBatch(place, end);
  const isAll = upTo === place.settled;
  const added = "readCounts" in source ? await tx.run(source.readCounts, [place.xid, upTo]) : [];
  await addFacts(tx, "read" in source ? await tx.run(source.read, [place.xid, upTo]) : added);
  if ("addBeside" in source && source.addBeside) await tx.run(source.addBeside, [place.xid, upTo]);
  await tx.run(move, [source.name, upTo, isAll ? place.now : null]);
  await markAdded(tx, added);
  return !isAll;
}

/** A batch ends after at least one whole transaction, however many rows it wrote. */
function endOfBatch({ xid, settled }: { xid: string; settled: string }, end: string): string {
  const next = BigInt(end) > BigInt(xid) ? BigInt(end) : BigInt(xid) + 1n;
  return String(next < BigInt(settled) ? next : BigInt(settled));
}

/** Rolls up every few seconds until it is stopped. Any number of nodes may run it. */
export function startRollingUpStatistics(deps: {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
}): BackgroundLoop {
  const { database, log, everyMs = 5000 } = deps;
  return startLoop({
    everyMs,
    round: async () => ((await rollUpStatistics(database)).hasMore ? 0 : undefined),
    onFault: (error) => log.error({ err: error }, "the statistics could not be rolled up; trying again"),
  });
}
