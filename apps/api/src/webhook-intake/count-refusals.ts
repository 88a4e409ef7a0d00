import type { Logger } from "@intermission/http-server/logger";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { SignatureFault } from "./judge-signature.ts";

export type RefusalReason = SignatureFault | "too-large" | "wrong-content-type" | "malformed-request";

export interface RefusalCounter {
  /** Costs nothing but memory: anybody can send what is not signed. */
  count(reason: RefusalReason): void;
  /** Writes what was counted since the last time. Rejects when the database does. */
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

/** Counts what came without a good signature: a row an hour and reason, a write and a line in the log a minute, no more. */
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
    logger.warn({ refused: Object.fromEntries(counts) }, "webhooks were refused before their signature held");
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
