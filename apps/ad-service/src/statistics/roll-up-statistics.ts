import { setTimeout } from "node:timers/promises";
import { statement } from "@intermission/postgres/open-database";
import type { FastifyBaseLogger } from "fastify";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { pruneFacts } from "./prune-facts.ts";
import { type Source, sources } from "./sources.ts";

// One node adds at a time: the others skip the locked row and retry later.
const claim = statement<{ xid: string; settled: string; now: Date }>(
  "statistics.claim",
  `select xid, settled_xid() as settled, clock_timestamp() as now
   from stats_progress where source = $1 for update skip locked`,
);

/**
 * Adds rows committed since the last run to the sums of their hours, one batch of each source. A row is counted when every
 * transaction that began before its own has ended, so that none commits behind the position up to which all are counted.
 * Sums and position commit together, so that a crash at any moment leaves either both or neither.
 */
export async function rollUpStatistics(database: Pick<AdDatabase, "transaction">): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const source of sources) {
    hasMore = (await database.transaction((tx) => addBatch(tx, source))) || hasMore;
  }
  return { hasMore };
}

async function addBatch(tx: AdTransaction, source: Source): Promise<boolean> {
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
  database: AdDatabase;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
}): { stop(): Promise<void> } {
  const { database, log, everyMs = 5000 } = deps;
  const stopping = new AbortController();

  let pruneAt = 0;

  /** Returns whether there is more to do immediately. */
  async function work(): Promise<boolean> {
    const rolledUp = await rollUpStatistics(database);
    if (rolledUp.hasMore || performance.now() < pruneAt) return rolledUp.hasMore;
    const pruned = await pruneFacts(database, { now: new Date() });
    if (!pruned.hasMore) pruneAt = performance.now() + PRUNE_EVERY_MS;
    return pruned.hasMore;
  }

  async function rollUpUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const hasMore = await work().catch((error) => {
        log.error(error, "the statistics could not be rolled up; trying again");
        return false;
      });
      if (!hasMore) await setTimeout(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const running = rollUpUntilStopped();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
