import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { type Campaign, campaignOf, selectCampaigns } from "../campaigns/rows.ts";
import type { Delivered } from "./campaign-state.ts";
import { flatCurve, type TrafficCurve } from "./pacing.ts";

export interface RunningCampaigns {
  campaigns: Campaign[];
  /** Delivered on the days before today, by campaign. */
  earlier: Map<string, Delivered>;
  curve: TrafficCurve;
}

const version = statement<{ version: string }>(
  "campaigns.version",
  // Each change gives its row a later xmin, so the sum changes in whatever order transactions commit.
  `select (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from campaigns) || ' ' ||
     (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from campaign_creatives) as version`,
);
const earlier = statement<{ campaignId: string } & Delivered>(
  "campaigns.delivered-earlier",
  `select campaign_id as "campaignId", sum(views)::bigint as views, sum(clicks)::bigint as clicks,
     sum(spent_micros)::bigint as "spentMicros"
   from campaign_days join campaigns using (campaign_id)
   where status = 'active' and day < ($1::timestamptz at time zone 'utc')::date group by campaign_id`,
);
const requestsByHour = statement<{ hour: number; requests: number }>(
  "campaigns.requests-by-hour",
  `select extract(hour from hour at time zone 'utc')::integer as hour, sum(count)::bigint as requests from stats_hours
   where measure in ('fills', 'no-fills', 'clicks') and hour >= $1::timestamptz - interval '7 days'
     and hour < date_trunc('day', $1::timestamptz, 'UTC')
   group by 1`,
);

/** A version that changes with every change of a campaign or its creatives. */
export async function campaignsVersion(database: AdDatabase): Promise<string> {
  return (await database.run(version, []))[0]?.version ?? "";
}

export async function readCampaigns(database: AdDatabase, now: Date): Promise<RunningCampaigns> {
  const rows = await selectCampaigns(database).where("status", "=", "active").orderBy("campaign_id").execute();
  const delivered = await database.run(earlier, [now]);
  return {
    campaigns: rows.map(campaignOf),
    earlier: new Map(delivered.map(({ campaignId, ...sums }) => [campaignId, sums])),
    curve: curveOf(await database.run(requestsByHour, [now])),
  };
}

/** Fewer requests than this do not show how traffic varies by hour. */
const FEWEST = 1000;

/** The hourly traffic of the last seven days. A tenth of it is flat, since an hour without requests may get some later. */
function curveOf(hours: readonly { hour: number; requests: number }[]): TrafficCurve {
  const all = hours.reduce((sum, { requests }) => sum + requests, 0);
  if (all < FEWEST) return flatCurve;
  const byHour = new Map(hours.map(({ hour, requests }) => [hour, requests]));
  return flatCurve.map((flat, hour) => 0.1 * flat + 0.9 * ((byHour.get(hour) ?? 0) / all));
}
