import type { Campaign, DeliveredSoFar } from "@intermission/operator-api/campaigns";
import { type Database, statement } from "@intermission/postgres/open-database";
import type { Delivered } from "./campaigns.ts";

interface DeliveredDays {
  all: Delivered;
  today: Delivered;
}

const nothing: Delivered = { views: 0, clicks: 0, spentMicros: 0 };

type Limits = Pick<Campaign, "totalBudgetMicros" | "dailyBudgetMicros" | "totalViewCap" | "totalClickCap">;

export function howFar(
  campaign: Limits,
  { all, today }: DeliveredDays = { all: nothing, today: nothing },
): Omit<DeliveredSoFar, keyof Standing> {
  const { totalBudgetMicros: total, dailyBudgetMicros: daily, totalViewCap, totalClickCap } = campaign;
  const left = total !== null ? total - all.spentMicros : daily !== null ? daily - today.spentMicros : null;
  const shares = [
    { used: all.spentMicros, limit: total },
    { used: all.views, limit: totalViewCap },
    { used: all.clicks, limit: totalClickCap },
  ].flatMap(({ used, limit }) => (limit === null ? [] : [used / limit]));
  return {
    delivered: all,
    budgetLeftMicros: left === null ? null : Math.max(0, left),
    deliveredShare: shares.length === 0 ? null : Math.round(Math.max(...shares) * 10_000) / 10_000,
  };
}

interface DaysRow extends Delivered {
  campaignId: string;
  viewsToday: number;
  clicksToday: number;
  spentMicrosToday: number;
}

const readDays = statement<DaysRow>(
  "campaigns.delivered-so-far",
  `select campaign_id as "campaignId", sum(views)::bigint as views, sum(clicks)::bigint as clicks,
     sum(spent_micros)::float8 as "spentMicros",
     coalesce(sum(views) filter (where is_today), 0)::bigint as "viewsToday",
     coalesce(sum(clicks) filter (where is_today), 0)::bigint as "clicksToday",
     coalesce(sum(spent_micros) filter (where is_today), 0)::float8 as "spentMicrosToday"
   from (
     select *, day = ($1::timestamptz at time zone 'utc')::date as is_today from campaign_days where campaign_id = any ($2)
   ) as days group by campaign_id`,
);

/** Whether an advertiser's campaigns may run at all. */
type Standing = Pick<DeliveredSoFar, "advertiserLeftMicros" | "isAdvertiserStopped">;

/** By the advertiser's id. */
export type StandingsOf = (advertiserIds: readonly string[]) => Promise<ReadonlyMap<string, Standing>>;

/** The campaigns, each with what it has delivered, and what its advertiser has left. */
export async function withDelivered<One extends Limits & Pick<Campaign, "campaignId" | "advertiserId">>(
  database: Pick<Database, "run">,
  campaigns: readonly One[],
  { now, standingsOf }: { now: Date; standingsOf: StandingsOf },
): Promise<(One & DeliveredSoFar)[]> {
  const rows = await database.run(readDays, [now, campaigns.map(({ campaignId }) => campaignId)]);
  const days = new Map(
    rows.map(({ campaignId, viewsToday, clicksToday, spentMicrosToday, ...all }) => [
      campaignId,
      { all, today: { views: viewsToday, clicks: clicksToday, spentMicros: spentMicrosToday } },
    ]),
  );
  const standings = await standingsOf([...new Set(campaigns.map(({ advertiserId }) => advertiserId))]);
  return campaigns.map((campaign) => ({
    ...campaign,
    ...howFar(campaign, days.get(campaign.campaignId)),
    ...(standings.get(campaign.advertiserId) ?? { advertiserLeftMicros: null, isAdvertiserStopped: false }),
  }));
}
