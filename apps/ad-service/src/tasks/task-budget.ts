import { statement, type Transaction } from "@intermission/postgres/open-database";
import { lockFunds, readFundsOf } from "../ad-selection/advertiser-funds.ts";

/** What of a task its budgets depend on. */
interface Priced {
  campaignId: string;
  priceMicros: number;
  isTest: boolean;
}

const lockCampaign = statement<{
  advertiserId: string;
  totalBudgetMicros: number | null;
  dailyBudgetMicros: number | null;
}>(
  "tasks.lock-campaign",
  `select advertiser_id as "advertiserId", total_budget_micros::float8 as "totalBudgetMicros",
     daily_budget_micros::float8 as "dailyBudgetMicros"
   from campaigns where campaign_id = $1 for no key update`,
);
const readSpent = statement<{ spent: number; spentToday: number; held: number; links: number }>(
  "tasks.read-spent",
  `select coalesce(sum(spent_micros), 0)::float8 as spent,
     coalesce(sum(spent_micros) filter (where day = ($2::timestamptz at time zone 'utc')::date), 0)::float8 as "spentToday",
     (select coalesce(sum(price_micros), 0)::float8 from tasks
      where campaign_id = $1 and state in ('opened', 'held') and not is_paid and not is_test) as held,
     (select count(*)::integer from tasks where campaign_id = $1 and state = 'opened') as links
   from campaign_days where campaign_id = $1`,
);

/**
 * Whether the budgets have room for one more task, and how many links of the campaign are open. Under the locks of the campaign
 * and its advertiser, after that of the task, and with every opened task counted as if it were paid: what tasks cost never exceeds
 * a budget, however many are opened, or reported late, at once on any number of nodes.
 */
export async function readRoom(
  tx: Transaction,
  { campaignId, priceMicros, isTest }: Priced,
  now: Date,
): Promise<{ hasBudget: boolean; links: number }> {
  const [campaign] = await tx.run(lockCampaign, [campaignId]);
  const [found] = await tx.run(readSpent, [campaignId, now]);
  if (campaign === undefined || found === undefined) throw new Error(`campaign ${campaignId} has no row`);
  const { spent, spentToday, held, links } = found;
  const price = isTest ? 0 : priceMicros;
  if (price === 0) return { hasBudget: true, links };
  const { advertiserId, totalBudgetMicros, dailyBudgetMicros } = campaign;
  const isWithin =
    spent + held + price <= (totalBudgetMicros ?? Number.POSITIVE_INFINITY) &&
    spentToday + held + price <= (dailyBudgetMicros ?? Number.POSITIVE_INFINITY);
  if (!isWithin) return { hasBudget: false, links };
  await lockFunds(tx, advertiserId);
  const funds = await readFundsOf(tx, advertiserId, now);
  return { hasBudget: funds === null || funds.spentMicros + funds.heldMicros + price <= funds.limitMicros, links };
}
