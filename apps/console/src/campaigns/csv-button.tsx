import { amountOf } from "@intermission/operator-api/amounts";
import { csvOf } from "@intermission/operator-api/csv";
import { useState } from "react";
import { useFailedNotice } from "../ui/answer-view.tsx";
import { Button } from "../ui/button.tsx";
import { saveCsv } from "../ui/csv.ts";
import { useWords } from "../words/word-table.ts";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { phaseOf } from "./pace.ts";
import { campaignWords } from "./words.ts";

interface CsvButtonProps {
  /** All campaigns of the list, in its order. */
  readAll: () => Promise<readonly ListedCampaign[]>;
  isEmpty: boolean;
  currency: string;
}

/** The campaigns of the list as a file, in its order, with amounts in the currency. */
export function CsvButton({ readAll, isEmpty, currency }: CsvButtonProps) {
  const words = useWords(campaignWords);
  const failed = useFailedNotice();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      saveCsv("campaigns.csv", campaignsCsv(await readAll(), currency, Date.now()));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button onClick={() => void save()} isBusy={isBusy} aria-disabled={isEmpty}>
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
