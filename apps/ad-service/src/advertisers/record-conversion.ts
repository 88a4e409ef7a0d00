import { type Database, statement } from "@intermission/postgres/open-database";
import { hashPostbackKey } from "./advertisers.ts";

export interface Postback {
  clickId: string;
  key: string;
  conversionId: string;
  event: string;
  valueMicros: number | null;
  now: Date;
}

export type RecordConversionOutcome =
  | { outcome: "recorded" }
  /** It was recorded before, so nothing was added. */
  | { outcome: "repeated" }
  | { outcome: "refused"; reason: "unknown-key" | "unknown-click" | "too-many" };

/** One click may lead to several conversions: a purchase, its renewals. More than this is not an honest count. */
const MOST_OF_CLICK = 100;

// The hash is looked up by its index: the timing can reveal something about the hash, but nothing about the key.
const findAdvertiser = statement<{ name: string }>(
  "conversions.advertiser-of-key",
  "select name from advertisers where postback_key_hash = $1",
);
// The event of a direct link's click has the same UUID as the click.
const findClick = statement<{ botId: string; campaignId: string; creativeId: string | null; advertiser: string }>(
  "conversions.click",
  `select bot_id as "botId", campaign_id as "campaignId", creative_id as "creativeId", advertiser
   from (
     select bot_id, case when price_micros is not null then campaign_id end as campaign_id, creative_id
     from events where event_id = 'evt_' || substr($1, 5) and starts_with($1, 'clk_')
     union all
     select bot_id, campaign_id, creative_id from ad_clicks where click_id = $1
   ) as clicked join campaigns using (campaign_id)`,
);
const insert = statement<{ clickId: string }>(
  "conversions.insert",
  `insert into conversions (click_id, event, conversion_id, value_micros, bot_id, campaign_id, creative_id, occurred_at)
   select $1, $2, $3, $4, $5, $6, $7, $8
   where (select count(*) from (select from conversions where click_id = $1 limit ${MOST_OF_CLICK}) as known) < ${MOST_OF_CLICK}
   on conflict do nothing returning click_id as "clickId"`,
);
const isKnown = statement<{ known: boolean }>(
  "conversions.is-known",
  "select exists (select from conversions where click_id = $1 and event = $2 and conversion_id = $3) as known",
);
const countRefusal = statement<never>(
  "conversions.count-refusal",
  `insert into conversion_refusals (day, reason, count) values (($1::timestamptz at time zone 'utc')::date, $2, 1)
   on conflict (day, reason) do update set count = conversion_refusals.count + 1`,
);

/** Records a conversion that the advertiser of the click's campaign reports. For statistics only: nothing is paid for it. */
export async function recordConversion(database: Database, postback: Postback): Promise<RecordConversionOutcome> {
  const recorded = await tryToRecord(database, postback);
  if (recorded.outcome === "refused") await database.run(countRefusal, [postback.now, recorded.reason]);
  return recorded;
}

async function tryToRecord(database: Database, postback: Postback): Promise<RecordConversionOutcome> {
  const { clickId, key, conversionId, event, valueMicros, now } = postback;
  const [advertiser] = await database.run(findAdvertiser, [hashPostbackKey(key)]);
  if (!advertiser) return { outcome: "refused", reason: "unknown-key" };
  const [click] = await database.run(findClick, [clickId]);
  // The answer is the same for another advertiser's click, so that it does not reveal whether that click exists.
  if (!click || click.advertiser !== advertiser.name) return { outcome: "refused", reason: "unknown-click" };
  const { botId, campaignId, creativeId } = click;
  const values = [clickId, event, conversionId, valueMicros, botId, campaignId, creativeId, now];
  if ((await database.run(insert, values)).length > 0) return { outcome: "recorded" };
  const [row] = await database.run(isKnown, [clickId, event, conversionId]);
  return row?.known ? { outcome: "repeated" } : { outcome: "refused", reason: "too-many" };
}
