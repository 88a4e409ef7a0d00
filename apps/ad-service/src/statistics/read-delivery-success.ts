import type { AdDatabase } from "../ad-database.ts";

export interface DeliverySuccess {
  delivered: number;
  underWay: number;
  failed: number;
  /** The delivered share of those that ended; null if none ended. */
  successRate: number | null;
}

/** The current outcomes of the webhooks for a period's events: a replay can still improve them. */
export async function readDeliverySuccess(
  database: AdDatabase,
  { botId, from, to }: { botId?: string | undefined; from: Date; to: Date },
): Promise<DeliverySuccess> {
  // Event ids begin with their time, so the primary key finds those of a bot and a period.
  let query = database.query
    .selectFrom("deliveries")
    .innerJoin("events", (join) =>
      join.onRef("events.bot_id", "=", "deliveries.bot_id").onRef("events.event_id", "=", "deliveries.event_id"),
    )
    .select(({ fn }) => ["deliveries.state", fn.countAll<number>().as("count")])
    .where("events.is_test", "=", false)
    .where("deliveries.event_id", ">=", firstEventIdAt(from))
    .where("deliveries.event_id", "<", firstEventIdAt(to));
  if (botId !== undefined) query = query.where("deliveries.bot_id", "=", botId);
  const counts = new Map((await query.groupBy("deliveries.state").execute()).map((row) => [row.state, row.count]));
  const countOf = (...states: Parameters<typeof counts.get>) =>
    states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
  const delivered = countOf("delivered");
  const failed = countOf("failed") + countOf("unknown");
  const over = delivered + failed;
  return {
    delivered,
    underWay: countOf("waiting") + countOf("sending") + countOf("held"),
    failed,
    successRate: over === 0 ? null : Math.round((delivered / over) * 10_000) / 10_000,
  };
}

/** `evt_` and a UUIDv7, whose first 48 bits are the milliseconds. */
function firstEventIdAt(moment: Date): string {
  const hex = Math.max(0, moment.getTime()).toString(16).padStart(12, "0");
  return `evt_${hex.slice(0, 8)}-${hex.slice(8)}`;
}
