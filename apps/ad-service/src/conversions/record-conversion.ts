import { codeWeekAt, timeOfClick } from "@intermission/ad-core/code";
import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import { type Database, statement } from "@intermission/postgres/open-database";
import { findAdvertiserOfKey } from "../advertisers/advertisers.ts";
import { MAX_CLICK_AGE_DAYS } from "../retention/kept-rows.ts";

export interface Postback {
  clickId: string;
  key: string;
  conversionId: string;
  event: string;
  valueMicros: string | null;
  /** The deployment's, in which the value is. */
  currency: string;
  now: Date;
}

type RecordConversionOutcome =
  | { outcome: "recorded" }
  /** It was recorded before, so nothing was added. */
  | { outcome: "repeated" }
  | { outcome: "refused"; reason: Exclude<ConversionRefusal, "unknown-currency" | "malformed"> };

/** One click may lead to several conversions: a purchase, its renewals. More than this is not an honest count. */
const MAX_OF_CLICK = 100;

const DAY_MS = 86_400_000;

// A view is clicked hours after it was opened, and a link after its code was issued; a clock may be set by days in between.
const AROUND_CLICK_DAYS = 14;
const WITHIN = `interval '${AROUND_CLICK_DAYS} days'`;

// The event of a direct link's click has the same UUID as the click. A held click converts like any other: the advertiser reports
// it once, and it may be released later.
const findClick = statement<{
  botId: string;
  campaignId: string;
  creativeId: string | null;
  advertiserId: string;
  audience: string;
  isRefused: boolean;
}>(
  "conversions.click",
  `select bot_id as "botId", campaign_id as "campaignId", creative_id as "creativeId",
     advertiser_id as "advertiserId", audience, is_refused as "isRefused"
   from (
     select bot_id, case when price_micros is not null then campaign_id end as campaign_id, creative_id, audience, false as is_refused
     from events where event_id = 'evt_' || substr($1, 5) and starts_with($1, 'clk_')
     union all
     select bot_id, campaign_id, null, audience, outcome = 'refused' from withheld_clicks
     where click_id = $1 and outcome in ('held', 'refused') and code >= $3 and code < $4
     union all
     select bot_id, campaign_id, creative_id, audience, false from cta_clicks
     where click_id = $1 and opened_at between $2::timestamptz - ${WITHIN} and $2::timestamptz + ${WITHIN}
   ) as clicked join campaigns using (campaign_id)`,
);
// The number of a click's conversions is counted after this, so that no concurrent request passes the limit with it.
const lockClick = statement<never>(
  "conversions.lock-click",
  "select pg_advisory_xact_lock(hashtextextended('conversions of ' || $1, 0))::text",
);
const insert = statement<{ clickId: string }>(
  "conversions.insert",
  `insert into conversions (click_id, event, conversion_id, value_micros, currency, bot_id, campaign_id, creative_id, audience, occurred_at, clicked_at)
   select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
   where (
     select count(*) from (select from conversions where click_id = $1 and clicked_at = $11 limit ${MAX_OF_CLICK}) as known
   ) < ${MAX_OF_CLICK}
   on conflict do nothing returning click_id as "clickId"`,
);
const findRecorded = statement<{ isReversed: boolean }>(
  "conversions.find-recorded",
  `select reversed_at is not null as "isReversed" from conversions
   where click_id = $1 and event = $2 and conversion_id = $3 and clicked_at = $4`,
);
const countRefusal = statement<never>(
  "conversions.count-refusal",
  `insert into conversion_refusals (day, reason, count) values (($1::timestamptz at time zone 'utc')::date, $2, 1)
   on conflict (day, reason) do update set count = conversion_refusals.count + 1`,
);

/** Records a conversion that the advertiser of the click's campaign reports. For statistics only: nothing is paid for it. */
export async function recordConversion(database: Database, postback: Postback): Promise<RecordConversionOutcome> {
  const recorded = await tryToRecord(database, postback);
  if (recorded.outcome === "refused") await countConversionRefusal(database, recorded.reason, postback.now);
  return recorded;
}

/** Counts a refused postback by day (UTC) and reason. */
export async function countConversionRefusal(database: Database, reason: ConversionRefusal, now: Date): Promise<void> {
  await database.run(countRefusal, [now, reason]);
}

/** The first letters of codes that may have been issued before a click, and of the first one after these. */
function codesAround(clickedAt: Date): [string, string] {
  const weekAfter = (days: number) => codeWeekAt(clickedAt.getTime() + days * DAY_MS);
  return [weekAfter(-AROUND_CLICK_DAYS), weekAfter(AROUND_CLICK_DAYS + 7)];
}

async function tryToRecord(database: Database, postback: Postback): Promise<RecordConversionOutcome> {
  const { clickId, key, conversionId, event, valueMicros, currency, now } = postback;
  const advertiserId = await findAdvertiserOfKey(database, key);
  if (advertiserId === undefined) return { outcome: "refused", reason: "unknown-key" };
  const clickedAt = timeOfClick(clickId);
  if (clickedAt === undefined) return { outcome: "refused", reason: "unknown-click" };
  // The id tells its time, also where the click is no longer kept, so this answer reveals nothing about the click.
  if (now.getTime() - clickedAt.getTime() > MAX_CLICK_AGE_DAYS * DAY_MS)
    return { outcome: "refused", reason: "too-late" };
  const [click] = await database.run(findClick, [clickId, clickedAt, ...codesAround(clickedAt)]);
  // The answer is the same for another advertiser's click, so that it does not reveal whether that click exists.
  if (!click || click.advertiserId !== advertiserId) return { outcome: "refused", reason: "unknown-click" };
  const { botId, campaignId, creativeId, audience, isRefused } = click;
  if (isRefused) return { outcome: "refused", reason: "refused-click" };
  const recordedBy = [botId, campaignId, creativeId, audience, now, clickedAt];
  const values = [clickId, event, conversionId, valueMicros, currency, ...recordedBy];
  return database.transaction<RecordConversionOutcome>(async (tx) => {
    await tx.run(lockClick, [clickId]);
    if ((await tx.run(insert, values)).length > 0) return { outcome: "recorded" };
    const [known] = await tx.run(findRecorded, [clickId, event, conversionId, clickedAt]);
    if (known === undefined) return { outcome: "refused", reason: "too-many" };
    return known.isReversed ? { outcome: "refused", reason: "reversed" } : { outcome: "repeated" };
  });
}
