import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import { Button } from "../ui/button.tsx";
import { saveCsv } from "../ui/csv.ts";
import { useWords } from "../words/word-table.ts";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { phaseOf } from "./pace.ts";
import { campaignWords } from "./words.ts";

interface CsvButtonProps {
  campaigns: readonly ListedCampaign[];
  /** Puts them in the order of the list. */
  sorted: (campaigns: readonly ListedCampaign[]) => readonly ListedCampaign[];
  currency: string;
}

/** The campaigns of the list as a file, in its order, with amounts in the currency. */
export function CsvButton({ campaigns, sorted, currency }: CsvButtonProps) {
  const words = useWords(campaignWords);
  const save = () => saveCsv("campaigns.csv", campaignsCsv(sorted(campaigns), currency, Date.now()));
  return (
    <Button onClick={save} aria-disabled={campaigns.length === 0}>
      {words.csv}
    </Button>
  );
}

function campaignsCsv(campaigns: readonly ListedCampaign[], currency: string, now: number): string {
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
