import { firstEventIdAt } from "@intermission/ad-core/code";
import { type Runner, statement } from "@intermission/postgres/open-database";

export interface DeliverySuccess {
  delivered: number;
  underWay: number;
  failed: number;
  /** The delivered share of those that ended; null if none ended. */
  successRate: number | null;
}

/** For all bots, or `ofBot` for $3 alone: a generic plan of one statement for both would not use the bot's index. */
const countDeliveries = (scope: "bot" | "all", ofBot = "") =>
  statement<Pick<DeliverySuccess, "delivered" | "underWay" | "failed">>(
    `statistics.deliveries-of-${scope}`,
    `select count(*) filter (where state = 'delivered') as delivered,
       count(*) filter (where state in ('waiting', 'sending', 'held')) as "underWay",
       count(*) filter (where state in ('failed', 'unknown')) as failed
     from deliveries join events using (bot_id, event_id)
     where not is_test and event_id >= $1 and event_id < $2 ${ofBot}`,
  );
// Event ids begin with their time, so the primary key finds those of a bot and a period.
const deliveriesOfBot = countDeliveries("bot", "and bot_id = $3");
const deliveriesOfAll = countDeliveries("all");

/** The current outcomes of the webhooks for a period's events: a replay can still improve them. */
export async function readDeliverySuccess(
  store: Runner,
  { botId, from, to }: { botId?: string | undefined; from: Date; to: Date },
): Promise<DeliverySuccess> {
  const period = [firstEventIdAt(from), firstEventIdAt(to)];
  const [counted = { delivered: 0, underWay: 0, failed: 0 }] =
    botId === undefined
      ? await store.run(deliveriesOfAll, period)
      : await store.run(deliveriesOfBot, [...period, botId]);
  const { delivered, failed } = counted;
  const over = delivered + failed;
  return { ...counted, successRate: over === 0 ? null : Math.round((delivered / over) * 10_000) / 10_000 };
}
