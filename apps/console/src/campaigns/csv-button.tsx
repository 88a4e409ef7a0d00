import { amountOf } from "@intermission/operator-api/amounts";
import { Button } from "../ui/button.tsx";
import { csvOf, saveCsv } from "../ui/csv.ts";
import { useWords } from "../words/word-table.ts";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { phaseOf } from "./pace.ts";
import { campaignWords } from "./words.ts";

/** The shown campaigns as a file, with amounts in the currency. */
export function CsvButton({ campaigns, currency }: { campaigns: readonly ListedCampaign[]; currency: string }) {
  const words = useWords(campaignWords);
  const save = () => saveCsv("campaigns.csv", campaignsCsv(campaigns, currency, Date.now()));
  return (
    <Button onClick={save} aria-disabled={campaigns.length === 0}>
      {words.csv}
    </Button>
  );
}

function campaignsCsv(campaigns: readonly ListedCampaign[], currency: string, now: number): string {
  const amount = (micros: number | null) => (micros === null ? null : Number(amountOf(micros)));
  const header = ["id", "name", "advertiser", "state", "views", "clicks", "spent", "daily_budget", "total_budget"];
  return csvOf(
    [...header, "currency", "starts_at", "ends_at"],
    campaigns.map((campaign) => [
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
  );
}
