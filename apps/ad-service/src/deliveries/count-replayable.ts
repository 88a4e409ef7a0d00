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
  /** Deliveries of the range in the state `unknown`, which a replay leaves out. */
  unknown: number;
  /** The range has more rows than were read: the counts are lower bounds. */
  isMore: boolean;
}

/** How many deliveries a replay of this range would send again. Counts within the first 10,000 rows. */
export async function countReplayable(database: AdDatabase, range: ReplayRange): Promise<ReplayCount> {
  const [row] = await database.run(counts[range.scope], [range.botId, ...idsBetween(range), MOST_LOOKED_AT + 1]);
  if (!row) throw new Error("the count of replayable deliveries returned no row");
  return { count: row.count, unknown: row.unknown, isMore: row.lookedAt > MOST_LOOKED_AT };
}
