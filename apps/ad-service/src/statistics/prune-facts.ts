import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";

/** Long enough to compare a month with the same one of the year before, row by row. */
const KEPT = "interval '13 months'";
/** Small enough that nobody waits for it. */
const MOST_PRUNED_AT_ONCE = 1000;

const olderThanKept = (moment: string) => `${moment} < $1::timestamptz - ${KEPT}`;
const oldRows = {
  ad_requests: olderThanKept("occurred_at"),
  ad_milestones: olderThanKept("occurred_at"),
  ad_clicks: olderThanKept("occurred_at"),
  withheld_clicks: olderThanKept("occurred_at"),
  click_refusals: olderThanKept("hour"),
  conversions: olderThanKept("occurred_at"),
  // Limits look at today and yesterday (UTC).
  address_days: "day < ($1::timestamptz at time zone 'utc')::date - 1",
  network_days: "day < ($1::timestamptz at time zone 'utc')::date - 1",
};

const prunes = Object.entries(oldRows).map(([table, isOld]) =>
  statement<never>(
    `statistics.prune-${table}`,
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${isOld}
       limit ${MOST_PRUNED_AT_ONCE} for update skip locked
     ))
     returning 1`,
  ),
);

/** One small batch of each kind of rows that nothing needs any more; the sums of facts stay. */
export async function pruneFacts(
  database: Pick<AdDatabase, "run">,
  { now }: { now: Date },
): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const prune of prunes) hasMore = (await database.run(prune, [now])).length >= MOST_PRUNED_AT_ONCE || hasMore;
  return { hasMore };
}
