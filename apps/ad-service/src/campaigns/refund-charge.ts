import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignFormat } from "./schema.ts";

export type RefundOutcome =
  | { outcome: "refunded"; campaignId: string; priceMicros: number }
  | { outcome: "refunded-before" }
  | { outcome: "not-charged" };

// A charge has the id of the event that it was made with. The refund's key lets it be given back once, however many ask.
const findCharge = statement<{ chargeId: string }>(
  "campaigns.find-charge",
  `select charge_id as "chargeId" from charges where charge_id =
     (select event_id from events where bot_id = $1 and code = $2 and event = $3)`,
);
const refund = statement<{ campaignId: string; priceMicros: number }>(
  "campaigns.refund",
  `with refunded as (
    insert into refunds (charge_id, campaign_id, creative_id, bot_id, format, code, price_micros, charged_at, occurred_at)
    select charge_id, campaign_id, creative_id, bot_id, format, code, price_micros, occurred_at, $2
    from charges where charge_id = $1
    on conflict do nothing
    returning campaign_id, format, price_micros, charged_at
  ),
  summed as (
    update campaign_days set
      views = views - (format = 'rewarded')::integer,
      clicks = clicks - (format = 'direct_link')::integer,
      spent_micros = spent_micros - price_micros
    from refunded
    where campaign_days.campaign_id = refunded.campaign_id and day = (charged_at at time zone 'utc')::date
  )
  select campaign_id as "campaignId", price_micros as "priceMicros" from refunded`,
);

/**
 * Gives back what a code's view or click cost, once: the campaign has its budget and its cap back, the statistics lose spend
 * and revenue in the hour of the refund. Charges themselves never change, and what the user earned stays with the publisher.
 */
export async function refundCharge(
  database: AdDatabase,
  { botId, code, format, now }: { botId: string; code: string; format: CampaignFormat; now: Date },
): Promise<RefundOutcome> {
  const [charge] = await database.run(findCharge, [botId, code, format]);
  if (!charge) return { outcome: "not-charged" };
  const [refunded] = await database.run(refund, [charge.chargeId, now]);
  return refunded ? { outcome: "refunded", ...refunded } : { outcome: "refunded-before" };
}
