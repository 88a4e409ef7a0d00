import { amountOf } from "@intermission/operator-api/amounts";
import { campaignSorts } from "@intermission/operator-api/campaign-words";
import { campaignRoutes } from "@intermission/operator-api/campaigns";
import { csvOf } from "@intermission/operator-api/csv";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { callOperator } from "../operator/call-operator.ts";
import { answerOf, wholeListOf } from "../operator/use-operator.ts";
import { PAGE_ROWS, sortIn, usePages } from "../operator/use-pages.ts";
import { usePerson } from "../session/use-session.ts";
import type { ListedCampaign } from "./campaign-columns.tsx";
import { phaseOf } from "./pace.ts";
import type { CampaignsSearch } from "./search.ts";

/** The campaigns of an address, as far as the person sees them: page by page, all at once, or only the active ones. */
export function useCampaignPages({ find, advertiser, status, phase, sort }: CampaignsSearch) {
  const person = usePerson();
  const queries = useQueryClient();
  const query = {
    find,
    advertiser: person.advertiserId ?? advertiser,
    status,
    phase,
    archived: status === "archived",
    order: "newest",
    sort: sortIn(sort, campaignSorts),
  } as const;
  const pages = usePages(
    ["campaigns", query],
    (after, signal) =>
      callOperator(campaignRoutes.listCampaigns, { query: { ...query, after, limit: PAGE_ROWS } }, signal),
    { keepsRows: true },
  );
  const active = { ...query, status: "active" } as const;
  const mayHaveActive = advertiser !== undefined && (status ?? "active") === "active";
  const counted = useQuery({
    ...answerOf(campaignRoutes.listCampaigns, { query: { ...active, limit: 1 } }),
    enabled: mayHaveActive,
  });
  const readWhole = (of: typeof query | typeof active) =>
    queries.fetchQuery(wholeListOf(campaignRoutes.listCampaigns, { query: of }));
  return {
    pages,
    readCsv: async () => {
      const { campaigns, currency } = await readWhole(query);
      return { file: "campaigns.csv", csv: campaignsCsv(campaigns, currency, Date.now()) };
    },
    /** Of the advertiser of the filter. */
    activeCount: mayHaveActive ? (counted.data?.total ?? 0) : 0,
    readActive: async (): Promise<ListedCampaign[]> => (await readWhole(active)).campaigns,
  };
}

/** The campaigns as a file, with amounts in the currency. */
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
