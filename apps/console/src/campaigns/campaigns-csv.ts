import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { phaseOf } from "./pace.ts";

/** The campaigns as a file, with amounts in the currency. */
export function campaignsCsv(campaigns: readonly ListedCampaign[], currency: string, now: number): string {
  const amount = (micros: number | null) => (micros === null ? null : Number(amountOf(micros)));
  const header = ["id", "name", "advertiser", "state", "views", "clicks", "spent", "daily_budget", "total_budget"];
  return csvOf([
    [...header, "currency", "starts_at", "ends_at"],
    ...campaigns.map((campaign) => [
      campaign.campaignId,
      campaign.name,
      campaign.advertiser,
      phaseOf(campaign, now),
      campaign.delivered.views,
      campaign.delivered.clicks,
      amount(campaign.delivered.spentMicros),
      amount(campaign.dailyBudgetMicros),
      amount(campaign.totalBudgetMicros),
      currency,
      campaign.startsAt,
      campaign.endsAt,
    ]),
  ]);
}
