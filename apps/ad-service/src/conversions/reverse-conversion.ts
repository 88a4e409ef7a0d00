import { type Database, statement } from "@intermission/postgres/open-database";

/** What names a conversion; `event` and `conversionId` are '' if the advertiser sent none. */
export interface ConversionKey {
  clickId: string;
  event: string;
  conversionId: string;
}

export type ReverseConversionOutcome =
  | { outcome: "reversed" }
  | { outcome: "reversed-before" }
  /** `recorded`: the click's conversions, for the message to a caller who named an unknown one. */
  | { outcome: "unknown-conversion"; recorded: Pick<ConversionKey, "event" | "conversionId">[] };

// The sums change in the hour of the reversal, so that figures already reported stay.
const reverse = statement<{ clickId: string }>(
  "conversions.reverse",
  `with reversed as (
    update conversions set reversed_at = $4
    where click_id = $1 and event = $2 and conversion_id = $3 and reversed_at is null
    returning click_id, bot_id, campaign_id, coalesce(creative_id, '') as creative_id, event, currency,
      coalesce(value_micros, 0) as value_micros, date_trunc('hour', $4::timestamptz, 'UTC') as hour
  ),
  by_event as (
    insert into conversion_hours (bot_id, hour, campaign_id, creative_id, event, currency, reversed, reversed_micros)
    select bot_id, hour, campaign_id, creative_id, event, currency, 1, value_micros from reversed
    on conflict (bot_id, hour, campaign_id, creative_id, event, currency) do update set
      reversed = conversion_hours.reversed + excluded.reversed,
      reversed_micros = conversion_hours.reversed_micros + excluded.reversed_micros
  ),
  summed as (
    insert into stats_hours (bot_id, hour, campaign_id, creative_id, measure, count)
    select bot_id, hour, campaign_id, creative_id, 'conversions', -1 from reversed
    on conflict (bot_id, hour, campaign_id, creative_id, measure, reason) do update set
      count = stats_hours.count + excluded.count
  )
  select click_id as "clickId" from reversed`,
);
const ofClick = statement<{ event: string; conversionId: string }>(
  "conversions.of-click",
  `select event, conversion_id as "conversionId" from conversions where click_id = $1
   order by occurred_at desc, event, conversion_id limit 10`,
);

/** Reverses a conversion once: an order that was cancelled, or a report that was wrong. It moves no money. */
export async function reverseConversion(
  database: Database,
  key: ConversionKey,
  now: Date,
): Promise<ReverseConversionOutcome> {
  const { clickId, event, conversionId } = key;
  const reversed = await database.run(reverse, [clickId, event, conversionId, now]);
  if (reversed.length > 0) return { outcome: "reversed" };
  const recorded = await database.run(ofClick, [clickId]);
  const isKnown = recorded.some((one) => one.event === event && one.conversionId === conversionId);
  return isKnown ? { outcome: "reversed-before" } : { outcome: "unknown-conversion", recorded };
}
