import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { conflict } from "@intermission/server/refuse";

export type RefundOutcome =
  | { outcome: "refunded"; campaignId: string; priceMicros: number }
  | { outcome: "refunded-before" }
  | { outcome: "not-charged" };

// The refund's key makes sure that a price is refunded only once, also with concurrent requests.
const refund = statement<{ campaignId: string; priceMicros: number }>(
  "campaigns.refund",
  `with refunded as (
    insert into refunds (event_id, campaign_id, creative_id, bot_id, event, price_micros, revenue_micros, audience, charged_at,
      occurred_at)
    select event_id, campaign_id, creative_id, bot_id, event, price_micros, revenue_micros, audience, occurred_at, $3
    from events where event_id = $1 and bot_id = $2 and price_micros is not null
    on conflict do nothing
    returning campaign_id, event, price_micros, charged_at
  ),
  summed as (
    update campaign_days set
      views = views - (event in ('rewarded', 'interstitial'))::integer,
      clicks = clicks - (event = 'direct_link')::integer,
      spent_micros = spent_micros - price_micros
    from refunded
    where campaign_days.campaign_id = refunded.campaign_id and day = (charged_at at time zone 'utc')::date
  )
  select campaign_id as "campaignId", price_micros as "priceMicros" from refunded`,
);

/**
 * Writes the refund of an event's price, which a view or a click (`objectId`) has earned: the campaign's budget and cap are restored, and the statistics subtract spend and
 * revenue in the hour of the refund. Events never change, and the publisher keeps what the user earned.
 */
export async function writeRefund(
  database: Database,
  of: { objectId: string; botId: string; eventId: string; author: Author | undefined; now: Date },
): Promise<Extract<RefundOutcome, { outcome: "refunded" }> | "changed"> {
  const { objectId, botId, eventId, author, now } = of;
  const values = [eventId, botId, now];
  const refunded = await changeAudited(database, { objectId, author }, { statement: refund, values });
  return refunded === undefined ? "changed" : { outcome: "refunded", ...refunded };
}

/** The same in the transaction that takes an event back: nothing is refunded twice, or that was not charged. */
export async function refundEvent(tx: Transaction, of: { eventId: string; botId: string; now: Date }): Promise<void> {
  await tx.run(refund, [of.eventId, of.botId, of.now]);
}

/** The operator's answer. `what` names the view or the click. */
export function refundAnswer(refunded: RefundOutcome, what: string): { campaignId: string; refundedMicros: number } {
  if (refunded.outcome === "not-charged")
    throw conflict("NOT_CHARGED", `${what} was not charged: there is nothing to refund`);
  if (refunded.outcome === "refunded-before") throw conflict("REFUNDED", `${what} was refunded before`);
  return { campaignId: refunded.campaignId, refundedMicros: refunded.priceMicros };
}
