import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { idsBetween, type ReplayRange, type ReplayScope, replayableDeliveries } from "./replayable-deliveries.ts";

const MOST_LOOKED_AT = 10_000;

const countOf = (scope: ReplayScope) =>
  statement<{ count: number; unknown: number; lookedAt: number }>(
    `deliveries.count-replayable-${scope}`,
    `with looked_at as (${replayableDeliveries(scope)})
    select count(*) filter (where is_wanted) as count, count(*) filter (where state = 'unknown') as unknown,
      count(*) as "lookedAt"
    from looked_at`,
  );
const counts = { failed: countOf("failed"), everything: countOf("everything") };

export interface ReplayCount {
  count: number;
  /** Of the range, and left out. */
  unknown: number;
  /** The range is longer than what was looked at; there are at least so many. */
  isMore: boolean;
}

/** How many deliveries a replay of this range would send again; looks at the first 10,000. */
export async function countReplayable(database: AdDatabase, range: ReplayRange): Promise<ReplayCount> {
  const [row] = await database.run(counts[range.scope], [range.botId, ...idsBetween(range), MOST_LOOKED_AT + 1]);
  if (!row) throw new Error("a count has no row");
  return { count: row.count, unknown: row.unknown, isMore: row.lookedAt > MOST_LOOKED_AT };
}
