import { type Runner, statement } from "@intermission/postgres/open-database";
import type { RefusalCount } from "./schema.ts";

const counted = statement<{ hour: Date; reason: string; refused: number; last_at: Date }>(
  "list-refusals",
  `select hour, reason, refused, last_at from refused_webhooks where bot_id = $1 and hour >= date_trunc('hour', $2::timestamptz)
order by hour desc, reason limit 10000`,
);

/** The number of webhooks refused before their signature was verified, by hour and reason, newest first. Kept for 30 days. */
export async function listRefusals(
  runner: Pick<Runner<unknown>, "run">,
  botId: string,
  since: Date,
): Promise<RefusalCount[]> {
  const rows = await runner.run(counted, [botId, since]);
  return rows.map((row) => ({
    hour: row.hour.toISOString(),
    reason: row.reason,
    refused: row.refused,
    lastAt: row.last_at.toISOString(),
  }));
}
