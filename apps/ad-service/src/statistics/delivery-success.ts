import { firstEventIdAt } from "@intermission/ad-core/code";
import type { DeliveryState } from "@intermission/ad-core/wire-fields";
import { type Runner, statement } from "@intermission/postgres/open-database";
import { webhooksKeptSince } from "../retention/describe-retention.ts";
import type { Figures } from "./figures-of.ts";

interface DeliverySuccess {
  delivered: number;
  underWay: number;
  failed: number;
  /** The delivered share of those that ended; null if none ended. */
  successRate: number | null;
  /** Only of events since then, since earlier webhooks are no longer kept; without it, of the whole period. */
  since?: Date;
}

type Rewarded = Pick<Figures, "rewards" | "clicks">;

const groupOf = {
  waiting: "underWay",
  sending: "underWay",
  held: "underWay",
  delivered: "delivered",
  failed: "failed",
  unknown: "failed",
} as const satisfies Record<DeliveryState, "delivered" | "underWay" | "failed">;

const statesOf = (group: "underWay" | "failed") =>
  Object.entries(groupOf).flatMap(([state, of]) => (of === group ? [state] : []));
const states = { underWay: statesOf("underWay"), failed: statesOf("failed") };

/** Each state but 'delivered' has an index of its own. For all bots, or `ofBot` for $3: one plan would not serve both. */
const countUndelivered = (scope: "bot" | "all", ofBot = "") =>
  statement<Pick<DeliverySuccess, "underWay" | "failed">>(
    `statistics.undelivered-of-${scope}`,
    `select count(*) filter (where state in (${listOf(states.underWay)})) as "underWay",
       count(*) filter (where state in (${listOf(states.failed)})) as failed
     from (
       ${[...states.underWay.map((state) => [state]), states.failed]
         .map((some) => `select state, event_id, is_test from deliveries where state in (${listOf(some)}) ${ofBot}`)
         .join(" union all ")}
     ) as undelivered
     where not is_test and event_id >= $1 and event_id < $2`,
  );
const undeliveredOfBot = countUndelivered("bot", "and bot_id = $3");
const undeliveredOfAll = countUndelivered("all");

function listOf(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ");
}

/**
 * The current outcomes of the webhooks for the views and clicks that a report counts: a replay can still improve them. Each
 * has one webhook, so that delivered are those that are neither under way nor failed. Counting them one by one would read
 * every event of the period. While events are not counted yet, `delivered` is too low by as many.
 */
export async function readDeliverySuccess(
  store: Runner,
  {
    botId,
    from,
    to,
    total,
    totalSince,
  }: {
    botId?: string | undefined;
    from: Date;
    to: Date;
    total: Rewarded;
    /** Of the period's end, beginning with this moment. */
    totalSince: (since: Date) => Promise<Rewarded>;
  },
): Promise<DeliverySuccess> {
  const keptSince = await webhooksKeptSince(store);
  const since = keptSince <= from ? from : keptSince < to ? keptSince : to;
  const kept = since === from ? total : since === to ? { rewards: 0, clicks: 0 } : await totalSince(since);
  const isAll = kept.rewards + kept.clicks === total.rewards + total.clicks;
  const period = [firstEventIdAt(since), firstEventIdAt(to)];
  const [{ underWay, failed } = { underWay: 0, failed: 0 }] =
    botId === undefined
      ? await store.run(undeliveredOfAll, period)
      : await store.run(undeliveredOfBot, [...period, botId]);
  const delivered = Math.max(0, kept.rewards + kept.clicks - underWay - failed);
  const over = delivered + failed;
  return {
    delivered,
    underWay,
    failed,
    successRate: over === 0 ? null : Math.round((delivered / over) * 10_000) / 10_000,
    ...(!isAll && { since }),
  };
}
