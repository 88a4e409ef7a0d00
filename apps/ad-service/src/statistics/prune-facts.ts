import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

/** Long enough to compare a month with the same one of the year before, row by row. */
const KEPT = "interval '13 months'";
/** Small enough that nobody waits for it. */
const MOST_PRUNED_AT_ONCE = 1000;

const momentOf = {
  ad_requests: "occurred_at",
  ad_milestones: "occurred_at",
  ad_clicks: "occurred_at",
  clicks: "occurred_at",
  conversions: "occurred_at",
  click_refusals: "hour",
};

const prunes = Object.entries(momentOf).map(([table, moment]) =>
  statement<never>(
    `statistics.prune-${table}`,
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${moment} < $1::timestamptz - ${KEPT}
       limit ${MOST_PRUNED_AT_ONCE} for update skip locked
     ))
     returning 1`,
  ),
);

/** One small batch of facts that were counted long ago; their sums stay. */
export async function pruneFacts(
  database: Pick<AdDatabase, "run">,
  { now }: { now: Date },
): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const prune of prunes) hasMore = (await database.run(prune, [now])).length >= MOST_PRUNED_AT_ONCE || hasMore;
  return { hasMore };
}
