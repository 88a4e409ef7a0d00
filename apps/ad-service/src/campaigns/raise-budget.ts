import { amountOf } from "@intermission/operator-api/amounts";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { definedFields } from "@intermission/server/parse-request";
import { paidIn, spentBy } from "../money/ledger.ts";
import type { CampaignFault } from "./campaign-settings.ts";
import { type Change, changeCampaign, type UpdateCampaignOutcome } from "./change-campaign.ts";

type Budgets = Pick<Campaign, "totalBudgetMicros" | "dailyBudgetMicros">;
const fields = ["totalBudgetMicros", "dailyBudgetMicros"] as const satisfies (keyof Budgets)[];

export interface BudgetFacts {
  /** What the campaign has spent. */
  spentMicros: bigint;
  /** What its advertiser may still spend; null: without a limit. */
  leftMicros: bigint | null;
}

const readFacts = statement<{ spent: string; left: string | null }>(
  "campaigns.facts-of-budget",
  `select (select coalesce(sum(spent_micros), 0) from campaign_days as days where days.campaign_id = campaigns.campaign_id)::text as spent,
     case when credit_limit_micros is not null then greatest(0, credit_limit_micros + ${paidIn("advertisers.advertiser_id")}
       - ${spentBy("advertisers.advertiser_id")}) end::text as left
   from campaigns join advertisers using (advertiser_id) where campaign_id = $1`,
);

/** What an advertiser may not do: lower a budget, set one where there is none, or plan to spend more than is left. */
export function budgetFault(
  before: Budgets,
  raised: { readonly [Field in keyof Budgets]?: number | undefined },
  { spentMicros, leftMicros }: BudgetFacts,
): CampaignFault | undefined {
  for (const field of fields) {
    const [micros, stored] = [raised[field], before[field]];
    if (micros !== undefined && (stored === null || micros <= stored)) {
      const message = "can only be raised; the operator lowers it";
      return { field, message, fault: fieldFault("ONLY_RAISED") };
    }
  }
  return moneyFault(raised, { spentMicros, leftMicros });
}

/** The fault of a total budget that exceeds what the campaign has spent plus what its advertiser has left. */
export function moneyFault(
  { totalBudgetMicros: total }: { readonly totalBudgetMicros?: number | null | undefined },
  { spentMicros, leftMicros }: BudgetFacts,
): CampaignFault | undefined {
  if (total === undefined || total === null) return undefined;
  if (leftMicros === null || BigInt(total) - spentMicros <= leftMicros) return undefined;
  const most = amountOf(spentMicros + leftMicros);
  const message = `must be ${most} at most: what the campaign has spent, and what the advertiser has left`;
  return { field: "totalBudgetMicros", message, fault: fieldFault("ABOVE_MONEY", { most }) };
}

/** Raises budgets for the campaign's advertiser, compared with what is left in the transaction of the change. */
export function raiseBudget(
  database: Database,
  { budgets, ...of }: Change & { budgets: { readonly [Field in keyof Budgets]?: number | undefined } },
): Promise<UpdateCampaignOutcome> {
  return changeCampaign(database, of, async (campaign, tx) => {
    const fault = budgetFault(campaign, budgets, await budgetFactsOf(tx, campaign.campaignId));
    return fault === undefined ? { ...campaign, ...definedFields(budgets) } : { fault };
  });
}

export async function budgetFactsOf(tx: Transaction, campaignId: string): Promise<BudgetFacts> {
  const [row] = await tx.run(readFacts, [campaignId]);
  const left = row?.left ?? null;
  return { spentMicros: BigInt(row?.spent ?? 0), leftMicros: left === null ? null : BigInt(left) };
}
