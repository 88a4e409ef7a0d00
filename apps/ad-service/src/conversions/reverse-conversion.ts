import { timeOfClick } from "@intermission/ad-core/code";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";

/** Identifies a conversion; `event` and `conversionId` are '' if the advertiser sent none. */
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

// The statistics subtract it at the time of the reversal, so that figures already reported stay.
const reverse = statement<{ event: string }>(
  "conversions.reverse",
  `with reversed as (
    update conversions set reversed_at = $4
    where click_id = $1 and event = $2 and conversion_id = $3 and clicked_at = $5 and reversed_at is null
    returning event, bot_id, campaign_id, creative_id, audience, currency, value_micros
  )
  insert into conversion_reversals (event, bot_id, campaign_id, creative_id, audience, currency, value_micros, occurred_at)
  select *, $4 from reversed returning event`,
);
const ofClick = statement<{ event: string; conversionId: string }>(
  "conversions.of-click",
  `select event, conversion_id as "conversionId" from conversions where click_id = $1 and clicked_at = $2
   order by occurred_at desc, event, conversion_id limit 10`,
);

/** Reverses a conversion once: an order that was cancelled, or a report that was wrong. It moves no money. */
export async function reverseConversion(
  database: Database,
  { clickId, event, conversionId, author, now }: ConversionKey & { author?: Author | undefined; now: Date },
): Promise<ReverseConversionOutcome> {
  const clickedAt = timeOfClick(clickId);
  const values = [clickId, event, conversionId, now, clickedAt];
  const objectId = `${clickId} ${event} ${conversionId}`;
  const reversed = await changeAudited(database, { objectId, author }, { statement: reverse, values });
  if (reversed !== undefined) return { outcome: "reversed" };
  const recorded = await database.run(ofClick, [clickId, clickedAt]);
  const isKnown = recorded.some((one) => one.event === event && one.conversionId === conversionId);
  return isKnown ? { outcome: "reversed-before" } : { outcome: "unknown-conversion", recorded };
}
