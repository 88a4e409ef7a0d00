import type { Campaign } from "@intermission/operator-api/campaigns";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { type RequestedBuyer, readBuyers } from "../buyers/buyers.ts";
import { type Delivered, selectCampaigns } from "../campaigns/campaigns.ts";
import { readEarlierSpend, readFunds, viewsInFlightOf } from "./advertiser-funds.ts";
import { type CampaignState, countAds, flatCurve, type ServedAds, type TrafficCurve } from "./campaign-state.ts";
import { type CampaignIndex, indexCampaigns, longestUserCap } from "./choose-ad.ts";
import { openLocalTimes } from "./local-time.ts";

interface RunningCampaigns {
  campaigns: Campaign[];
  buyers: RequestedBuyer[];
  /** Delivered on the days before today, by campaign. */
  earlier: Map<string, Delivered>;
  /** Spent on the days before today, by advertiser with a limit. */
  spentEarlier: Map<string, number>;
  curve: TrafficCurve;
}

const version = statement<{ version: string }>(
  "campaigns.version",
  // Each change gives its row a later xmin, so the sum changes in whatever order transactions commit.
  `select (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from campaigns) || ' ' ||
     (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from campaign_creatives) || ' ' ||
     (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from advertisers) || ' ' ||
     (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from creatives where review <> 'approved') || ' ' ||
     (select count(*) || ' ' || coalesce(sum(xmin::text::numeric), 0) from buyers) as version`,
);
const earlier = statement<{ campaignId: string } & Delivered>(
  "campaigns.delivered-earlier",
  `select campaign_id as "campaignId", sum(views)::bigint as views, sum(clicks)::bigint as clicks,
     sum(spent_micros)::float8 as "spentMicros"
   from campaign_days join campaigns using (campaign_id)
   where status = 'active' and day < ($1::timestamptz at time zone 'utc')::date group by campaign_id`,
);
const running = statement<Campaign>(
  "campaigns.running",
  `${selectCampaigns} where status = 'active'
     and advertiser_id in (select advertiser_id from advertisers where state = 'active') order by campaign_id`,
);
const requestsByHour = statement<{ hour: number; requests: number }>(
  "campaigns.requests-by-hour",
  `select extract(hour from starts_at at time zone 'utc')::integer as hour, sum(fills + no_fills + clicks)::bigint as requests
   from stats_bot_sums
   where span = 'hour' and starts_at >= $1::timestamptz - interval '7 days'
     and starts_at < date_trunc('day', $1::timestamptz, 'UTC')
   group by 1`,
);

/** A version that changes with every change of a campaign, its creatives or its advertiser. */
async function campaignsVersion(database: Database): Promise<string> {
  return (await database.run(version, []))[0]?.version ?? "";
}

export async function readCampaigns(database: Database, now: Date): Promise<RunningCampaigns> {
  const campaigns = await database.run(running, []);
  const delivered = await database.run(earlier, [now]);
  return {
    campaigns,
    buyers: await readBuyers(database),
    spentEarlier: await readEarlierSpend(database, now),
    earlier: new Map(delivered.map(({ campaignId, ...sums }) => [campaignId, sums])),
    curve: curveOf(await database.run(requestsByHour, [now])),
  };
}

/** Fewer requests than this do not show how traffic varies by hour. */
const MIN_REQUESTS = 1000;

/** The hourly traffic of the last seven days. A tenth of it is flat, since an hour without requests may get some later. */
function curveOf(hours: readonly { hour: number; requests: number }[]): TrafficCurve {
  const all = hours.reduce((sum, { requests }) => sum + requests, 0);
  if (all < MIN_REQUESTS) return flatCurve;
  const byHour = new Map(hours.map(({ hour, requests }) => [hour, requests]));
  return flatCurve.map((flat, hour) => 0.1 * flat + 0.9 * ((byHour.get(hour) ?? 0) / all));
}

interface CampaignDelivery {
  campaignId: string;
  views: number;
  clicks: number;
  spentMicros: number;
  viewsInFlight: number;
}

/** Counts only for campaigns with a limit, because it reads all their views of the interval. */
const inFlight = (of: string) => `case when coalesce(${of}.total_budget_micros, ${of}.daily_budget_micros,
      ${of}.total_view_cap, ${of}.daily_view_cap) is null then 0
      else ${viewsInFlightOf(`${of}.campaign_id`)} end::integer as "viewsInFlight"`;

/** What running campaigns delivered on the UTC day of `$1`, and their views in flight. Omits campaigns with neither. */
const deliveredToday = statement<CampaignDelivery>(
  "campaigns.delivered-today",
  `select * from (
     select campaigns.campaign_id as "campaignId", coalesce(views, 0) as views, coalesce(clicks, 0) as clicks,
       coalesce(spent_micros, 0)::float8 as "spentMicros", ${inFlight("campaigns")}
     from campaigns left join lateral (
       -- Lateral with "offset 0" looks up one row per campaign; a plain join read all days of all time.
       select * from campaign_days where campaign_days.campaign_id = campaigns.campaign_id
         and day = ($1::timestamptz at time zone 'utc')::date offset 0
     ) as today on true
     where status = 'active'
   ) as delivered where views + clicks + "viewsInFlight" > 0`,
);

/** The same for one campaign, `$2`, and what it delivered on earlier days. */
export const deliveredBy = statement<
  CampaignDelivery & { earlierViews: number; earlierClicks: number; earlierSpentMicros: number }
>(
  "campaigns.delivered-by",
  `select $2::text as "campaignId",
     coalesce(sum(views) filter (where is_today), 0)::bigint as views,
     coalesce(sum(clicks) filter (where is_today), 0)::bigint as clicks,
     coalesce(sum(spent_micros) filter (where is_today), 0)::float8 as "spentMicros",
     coalesce(sum(views) filter (where not is_today), 0)::bigint as "earlierViews",
     coalesce(sum(clicks) filter (where not is_today), 0)::bigint as "earlierClicks",
     coalesce(sum(spent_micros) filter (where not is_today), 0)::float8 as "earlierSpentMicros",
     (select ${inFlight("campaigns")} from campaigns where campaigns.campaign_id = $2)
   from (
     select *, day = ($1::timestamptz at time zone 'utc')::date as is_today from campaign_days where campaign_id = $2
   ) as days`,
);

/** The running campaigns in memory, so that choosing an ad needs no database query. Each refresh replaces what it holds. */
export interface CampaignSnapshot extends ServedAds {
  /** Prepared for `chooseAd`. */
  index: CampaignIndex;
  /** Those that are on. Their campaigns are in `byId`, and not in the index. */
  buyers: readonly RequestedBuyer[];
  /** Call after a change on this node. Other nodes see the change with their next refresh, within seconds. */
  refresh(): Promise<void>;
  /** Of the refreshes. */
  readonly health: BackgroundLoop["health"];
  stop(): Promise<void>;
}

/** The traffic curve and the sums of earlier days are reread at this interval, even if no campaign has changed. */
const REREAD_MS = 600_000;

export async function startCampaignSnapshot(deps: {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
  now?: () => Date;
}): Promise<CampaignSnapshot> {
  const { database, log, everyMs = 2000, now = () => new Date() } = deps;
  let running: RunningCampaigns & { version: string; at: number; day: string } = {
    campaigns: [],
    buyers: [],
    earlier: new Map(),
    spentEarlier: new Map(),
    curve: flatCurve,
    version: "",
    at: 0,
    day: "",
  };
  const localTimes = openLocalTimes();
  let turn: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    const at = now();
    const day = at.toISOString().slice(0, 10);
    const version = await campaignsVersion(database);
    if (version !== running.version || day !== running.day || at.getTime() - running.at > REREAD_MS) {
      running = { ...(await readCampaigns(database, at)), version, day, at: at.getTime() };
    }
    // An ad served during the read may or may not be in its result: counting it twice is safe, missing it is not.
    snapshot.reserved = new Set();
    const deliveredOf = new Map((await database.run(deliveredToday, [at])).map((row) => [row.campaignId, row]));
    const funds = await readFunds(database, running.spentEarlier, at);
    const states = running.campaigns.map((campaign): CampaignState => {
      const { viewsInFlight = 0, ...today } = deliveredOf.get(campaign.campaignId) ?? {};
      const delivered = { today: { ...nothing, ...today }, earlier: earlierOf(campaign), viewsInFlight };
      return { campaign, ...delivered, funds: funds.get(campaign.advertiserId) ?? null };
    });
    snapshot.byId = new Map(states.map((state) => [state.campaign.campaignId, state]));
    for (const ad of snapshot.reserved) countAds(snapshot, ad, 1);
    snapshot.buyers = running.buyers.filter(({ isOffered }) => isOffered);
    // What a buyer would show is known only once it has bid.
    const bought = new Set(running.buyers.map(({ campaignId }) => campaignId));
    const own = states.filter(({ campaign }) => !bought.has(campaign.campaignId));
    const index = indexCampaigns(own, { now: at, curve: running.curve, localTimes });
    // Caps of the buyers' campaigns hold, too.
    snapshot.index = { ...index, userCapSeconds: longestUserCap(states) };
  }

  const earlierOf = ({ campaignId }: Campaign): Delivered => ({ ...nothing, ...running.earlier.get(campaignId) });

  const refresh = () => {
    // Reads run one after another, so that an older result never replaces a newer one.
    turn = turn.then(read);
    const result = turn;
    turn = turn.catch(() => {});
    return result;
  };
  const snapshot: CampaignSnapshot = {
    index: indexCampaigns([], { now: now(), curve: flatCurve, localTimes }),
    buyers: [],
    byId: new Map(),
    reserved: new Set(),
    refresh,
    get health() {
      return refreshing.health;
    },
    async stop() {
      await refreshing.stop();
      await turn;
    },
  };
  await read();
  const refreshing = startLoop({
    everyMs,
    firstInMs: everyMs,
    round: () => refresh().then(() => undefined),
    onFault: (error) => log.error({ err: error }, "refreshing the campaigns failed; the last snapshot is still used"),
  });
  return snapshot;
}

const nothing: Delivered = { views: 0, clicks: 0, spentMicros: 0 };
