import { type Database, statement } from "@intermission/postgres/open-database";
import type { Logger } from "@intermission/server/logger";
import type { SignatureFault } from "./judge-signature.ts";

export type RefusalReason = SignatureFault | "too-large" | "wrong-content-type" | "malformed-request";

export interface RefusalCounter {
  /** Costs only memory: anyone can send unsigned requests. */
  count(reason: RefusalReason): void;
  /** Writes the counts since the last flush. Rejects when the database does. */
  flush(): Promise<void>;
}

const flushAfterMs = 60_000;

const keepCounts = statement<unknown>(
  "count-refusals",
  `with removed as (delete from refused_webhooks where bot_id = $1 and hour < now() - interval '30 days')
insert into refused_webhooks as kept (bot_id, hour, reason, refused, last_at)
select $1, date_trunc('hour', now()), reason, refused, now()
from unnest($2::text[], $3::bigint[]) as counted(reason, refused) order by reason
on conflict (bot_id, hour, reason) do update set refused = kept.refused + excluded.refused, last_at = excluded.last_at`,
);

/** Counts webhooks without a valid signature: one row per hour and reason, and at most one write and one log line a minute. */
export function countRefusals(
  database: Pick<Database<unknown>, "run">,
  botId: string,
  logger: Pick<Logger, "warn">,
): RefusalCounter {
  let counts = new Map<RefusalReason, number>();
  let isDue = false;

  function add(reason: RefusalReason, number: number): void {
    counts.set(reason, (counts.get(reason) ?? 0) + number);
    if (!isDue) setTimeout(tell, flushAfterMs).unref();
    isDue = true;
  }

  function tell(): void {
    isDue = false;
    logger.warn({ refused: Object.fromEntries(counts) }, "webhooks were refused before their signature was verified");
    flush().catch((error: unknown) => logger.warn({ err: error }, "refused webhooks could not be counted"));
  }

  async function flush(): Promise<void> {
    if (counts.size === 0) return;
    const flushed = counts;
    counts = new Map();
    try {
      await database.run(keepCounts, [botId, [...flushed.keys()], [...flushed.values()]]);
    } catch (error) {
      for (const [reason, number] of flushed) add(reason, number);
      throw error;
    }
  }

  return { count: (reason) => add(reason, 1), flush };
}
