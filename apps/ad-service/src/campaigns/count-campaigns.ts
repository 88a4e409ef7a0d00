import { type CampaignPhase, campaignPhase } from "@intermission/operator-api/campaign-phase";
import type { Campaign } from "@intermission/operator-api/campaigns";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { advertiserIdOf, campaignColumns } from "./campaigns.ts";
import { type StandingsOf, withDelivered } from "./delivered-so-far.ts";

const ofPhase = [
  "campaignId",
  "advertiserId",
  "name",
  "status",
  "pausedBy",
  "startsAt",
  "endsAt",
  "formats",
  "viewPriceMicros",
  "clickPriceMicros",
  "totalBudgetMicros",
  "dailyBudgetMicros",
  "totalViewCap",
  "totalClickCap",
] as const satisfies readonly (keyof Campaign)[];

type Row = Pick<Campaign, (typeof ofPhase)[number]> & { hasCreative: boolean };

const columns = {
  ...(Object.fromEntries(ofPhase.map((field) => [field, campaignColumns[field]])) as Record<
    (typeof ofPhase)[number],
    string
  >),
  hasCreative: `exists (select from campaign_creatives join creatives using (creative_id)
      where campaign_creatives.campaign_id = campaigns.campaign_id and campaign_creatives.is_active and review = 'approved')`,
} satisfies ColumnsOf<Row>;

const readActive = statement<Row>(
  "campaigns.active-of-phase",
  `select ${selected(columns)} from campaigns where status = 'active' and ($1::text is null or advertiser_id = $1)
   order by created_at desc, campaign_id desc`,
);

interface CountedPhase {
  phase: CampaignPhase;
  count: number;
  /** Of the latest of them. */
  name: string;
}

/** How many active campaigns are in each phase, for screens that show no list of them. */
export async function countCampaigns(
  database: Database,
  { advertiser, now, standingsOf }: { advertiser: string | undefined; now: Date; standingsOf: StandingsOf },
): Promise<CountedPhase[]> {
  const active = await database.run(readActive, [await advertiserIdOf(database, advertiser)]);
  const campaigns = await withDelivered(database, active, { now, standingsOf });
  const byPhase = Map.groupBy(campaigns, (campaign) => campaignPhase(campaign, now.getTime()));
  return [...byPhase].flatMap(([phase, [latest, ...others]]) =>
    latest === undefined ? [] : [{ phase, count: 1 + others.length, name: latest.name }],
  );
}
