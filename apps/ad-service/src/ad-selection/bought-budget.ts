import { statement, type Transaction } from "@intermission/postgres/open-database";
import { paidIn, spentBy } from "../money/ledger.ts";
import { lockFunds } from "./advertiser-funds.ts";
import type { CampaignState } from "./campaign-state.ts";

/** The amount that a buyer owes, including its offers that may still be shown. */
interface BoughtSums {
  /** What was paid in, and the credit; null: no limit. */
  limitMicros: number | null;
  owedMicros: number;
  totalMicros: number;
  todayMicros: number;
  heldMicros: number;
}

// The buyer owes an impression when its view starts. An offer that has not started is held as long as it may start.
const read = statement<BoughtSums>(
  "campaigns.bought-sums",
  `select (${paidIn("advertisers.advertiser_id")} + credit_limit_micros)::float8 as "limitMicros", ${spentBy("advertisers.advertiser_id")}::float8 as "owedMicros",
     (select coalesce(sum(shown_micros), 0) from campaign_days where campaign_id = $2)::float8 as "totalMicros",
     (select coalesce(sum(shown_micros), 0) from campaign_days
       where campaign_id = $2 and day = ($1::timestamptz at time zone 'utc')::date)::float8 as "todayMicros",
     (select coalesce(sum(price_micros), 0) from views where views.campaign_id = $2 and state = 'opened' and not is_test
       and opened_at > $1::timestamptz - interval '15 minutes')::float8
     + (select coalesce(sum(price_micros), 0) from cards where cards.campaign_id = $2 and shown_at is null and not is_test
       and expires_at > $1)::float8 as "heldMicros"
   from advertisers where advertiser_id = (select advertiser_id from campaigns where campaign_id = $2)`,
);

/**
 * Whether an offer at this price stays within the buyer's credit limit and the budgets of its campaign. Locks the advertiser if there
 * are any, so that offers on all nodes wait for each other and none is exceeded: call it in the transaction that begins the view.
 */
export async function hasCreditLeft(
  tx: Transaction,
  { campaign, funds }: CampaignState,
  { priceMicros, now }: { priceMicros: number; now: Date },
): Promise<boolean> {
  const { advertiserId, campaignId, totalBudgetMicros, dailyBudgetMicros } = campaign;
  if (funds === null && totalBudgetMicros === null && dailyBudgetMicros === null) return true;
  await lockFunds(tx, advertiserId);
  const [sums] = await tx.run(read, [now, campaignId]);
  if (sums === undefined) return false;
  const { limitMicros, owedMicros, totalMicros, todayMicros, heldMicros } = sums;
  const isWithin = (limit: number | null, used: number) => limit === null || used + heldMicros + priceMicros <= limit;
  return (
    isWithin(limitMicros, owedMicros) &&
    isWithin(totalBudgetMicros, totalMicros) &&
    isWithin(dailyBudgetMicros, todayMicros)
  );
}
