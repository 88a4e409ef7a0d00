import type { AlertCause, momentaryCauses } from "@intermission/operator-api/alerts";
import { notRequested, outcomesWithoutBid } from "@intermission/operator-api/bid-outcomes";
import { inUnits } from "@intermission/operator-api/currency-units";
import type { Statement, Transaction } from "@intermission/postgres/open-database";
import { countDuePayouts } from "../money/earnings.ts";
import { paidIn, spentBy } from "../money/ledger.ts";
import { monthBefore } from "../money/months.ts";

/** A state of the deployment that people are told of while it lasts, such as an advertiser without money. */
export interface Condition {
  cause: ConditionCause;
  /** An advertiser, a campaign, a bot or a month; empty: the deployment. */
  objectId: string;
  facts: Record<string, string>;
  /** Whose it is: people of the advertiser, or of the bot, are told of it too. */
  advertiserId: string | null;
  botId: string | null;
}

/** Causes that last, without momentary ones. */
export type ConditionCause = Exclude<AlertCause, (typeof momentaryCauses)[number]>;

type Row = Omit<Condition, "cause">;

// Each statement returns the object, its facts, the advertiser and the bot. `$1` is the present moment. Sample traffic is left out.
const isSample = (column: string, ids: string) => `exists (select from sample where ${column} = any (${ids}))`;
const columns = '"objectId", facts, "advertiserId", "botId"';
const yesterday = "day >= ($1::timestamptz at time zone 'utc')::date - 1";
const hours = "date_trunc('hour', $1::timestamptz, 'UTC')";

const inSql = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");
const withoutBid = `outcome in (${inSql(outcomesWithoutBid)})`;

/** Half, of enough requests that chance does not make it. */
const fillFallen = `select bot_id as "objectId", jsonb_build_object('name', bots.name,
     'before', round(100.0 * fills_before / requests_before)::text, 'now', round(100.0 * fills_now / requests_now)::text) as facts,
     null::text as "advertiserId", bot_id as "botId"
   from (
     select bot_id, sum(fills) filter (where starts_at >= ${hours} - interval '25 hours') as fills_now,
       sum(fills + no_fills) filter (where starts_at >= ${hours} - interval '25 hours') as requests_now,
       sum(fills) filter (where starts_at < ${hours} - interval '25 hours') as fills_before,
       sum(fills + no_fills) filter (where starts_at < ${hours} - interval '25 hours') as requests_before
     from stats_bot_sums
     where span = 'hour' and starts_at >= ${hours} - interval '49 hours' and starts_at < ${hours} - interval '1 hour'
     group by bot_id
   ) as sums join bots using (bot_id)
   where least(requests_now, requests_before) >= 200 and 2 * fills_now * requests_before <= fills_before * requests_now
     and not ${isSample("bot_id", "sample.bot_ids")}`;

/**
 * Of the latest 2,000 requests among the latest 10,000 openings, by the index of their source: so few rows are read even of a busy
 * buyer that is mostly not requested. One with fewer requests among these is not judged.
 */
const bidsFallen = `select buyer_id as "objectId", jsonb_build_object('name', advertisers.name,
     'before', round(bids_before / 10.0)::text, 'now', round(bids_now / 10.0)::text) as facts,
     null::text as "advertiserId", null::text as "botId"
   from buyers join advertisers using (advertiser_id) cross join lateral (
     select count(*) as requests, count(*) filter (where place <= 1000 and not ${withoutBid}) as bids_now,
       count(*) filter (where place > 1000 and not ${withoutBid}) as bids_before
     from (
       select outcome, row_number() over (order by occurred_at desc) as place from (
         select outcome, occurred_at from opening_offers
         where source = buyers.buyer_id and occurred_at > $1::timestamptz - interval '3 days'
         order by occurred_at desc limit 10000
       ) as openings
       where outcome not in (${inSql(notRequested)})
       order by occurred_at desc limit 2000
     ) as latest
   ) as rates
   where is_active and requests = 2000 and bids_before >= 50 and 2 * bids_now <= bids_before`;

const moneyLow = `select advertiser_id as "objectId",
     jsonb_build_object('name', name, 'amount', greatest(0, left_micros)::text) as facts, advertiser_id as "advertiserId",
     null::text as "botId"
   from (
     select advertiser_id, name, credit_limit_micros + ${paidIn("advertisers.advertiser_id")}
         - ${spentBy("advertisers.advertiser_id")} as left_micros,
       ${spentBy("advertisers.advertiser_id", yesterday)} as lately
     from advertisers where state = 'active' and credit_limit_micros is not null
   ) as limited
   where lately > 0 and left_micros <= lately and not ${isSample("advertiser_id", "sample.advertiser_ids")}`;

/** SQL: what a campaign's cheapest ad costs. With less than that left, it has stopped. */
const cheapestAd = `least(case when formats && array['rewarded', 'interstitial'] then view_price_micros end,
         case when 'direct_link' = any (formats) then click_price_micros end,
         case when 'task' = any (formats) then task_price_micros end)`;
const budgetSpent = `select campaign_id as "objectId", jsonb_build_object('name', name) as facts,
     advertiser_id as "advertiserId", null::text as "botId"
   from campaigns where status = 'active' and total_budget_micros is not null and (ends_at is null or ends_at > $1)
     and (select coalesce(sum(spent_micros), 0) from campaign_days as days where days.campaign_id = campaigns.campaign_id)
       > total_budget_micros - greatest(1, ${cheapestAd}) and not ${isSample("advertiser_id", "sample.advertiser_ids")}`;

const webhooksFailing = `select bot_id as "objectId", jsonb_build_object('name', bots.name) as facts, null::text as "advertiserId",
     bot_id as "botId"
   from endpoints join bots using (bot_id)
   where (breaker <> 'closed' or endpoints.state = 'disabled' and disabled_reason <> 'operator') and $1::timestamptz is not null
     and not ${isSample("bot_id", "sample.bot_ids")}`;

const counted = (from: string) => `select '' as "objectId", jsonb_build_object('count', count::text) as facts,
     null::text as "advertiserId", null::text as "botId"
   from (select count(*) as count from ${from}) as counted where count > 0`;

const queries = {
  "money-low": moneyLow,
  "budget-spent": budgetSpent,
  "fill-fallen": fillFallen,
  "bids-fallen": bidsFallen,
  "webhooks-failing": webhooksFailing,
  "videos-waiting": counted(`(
       select from creatives where review = 'waiting' and $1::timestamptz is not null
       union all select from bought_creatives where review in ('waiting', 'reported')
     ) as waiting`),
  "campaigns-waiting": counted("campaigns where review = 'waiting' and $1::timestamptz is not null"),
  "money-waiting": counted("money_requests where state = 'waiting' and $1::timestamptz is not null"),
  "views-held": counted(
    "views where suspicions <> '{}' and state = 'held' and opened_at > $1::timestamptz - interval '30 days'",
  ),
} satisfies Record<Exclude<ConditionCause, "payout-due">, string>;

// Unnamed: a rare look, whose plans depend on how much there is.
const statements: Statement<Row & { cause: Exclude<ConditionCause, "payout-due"> }> = {
  name: "",
  text: Object.entries(queries)
    .map(([cause, text]) => `select '${cause}' as cause, ${columns} from (${text}) as found`)
    .join("\nunion all "),
};

/** What holds now, of all causes but payouts. */
export async function readConditions(
  tx: Pick<Transaction, "run">,
  { now, currency }: { now: Date; currency: string },
): Promise<Condition[]> {
  const rows = await tx.run(statements, [now]);
  return rows.map((row) => {
    const { amount } = row.facts;
    if (amount === undefined) return row;
    return { ...row, facts: { ...row.facts, amount: `${inUnits(BigInt(amount), currency)} ${currency}` } };
  });
}

/** Whether publishers are to be paid for the last month that is over. It reads all of the ledger. */
export async function readDuePayouts(
  tx: Pick<Transaction, "run">,
  { now, currency, isSettled }: { now: Date; currency: string; isSettled: boolean },
): Promise<Condition[]> {
  if (!isSettled) return [];
  const month = monthBefore(now);
  const count = await countDuePayouts(tx, { month, currency });
  if (count === 0) return [];
  const facts = { month, count: String(count) };
  return [{ cause: "payout-due", objectId: month, facts, advertiserId: null, botId: null }];
}
