import { type CampaignPriority, campaignPriorities } from "@intermission/operator-api/campaign-words";
import type { CampaignSettings, campaignRoutes } from "@intermission/operator-api/campaigns";
import type { AnswerOf } from "@intermission/operator-api/route";
import { type Database, statement } from "@intermission/postgres/open-database";

const DAYS = 7;
const DAY_MS = 86_400_000;
/** Fewer views say little of how many are watched to the end. */
const ENOUGH_VIEWS = 50;

/** Requests of users at the targets, by what they got. */
interface RequestsAtTargets {
  /** Of the campaign that was shown; null: none was. */
  priority: CampaignPriority | null;
  fills: number;
  unfilled: number;
  rewards: number;
}

export interface ForecastFacts {
  /** Whole days with traffic before today (UTC), at most 7. */
  days: number;
  requests: readonly RequestsAtTargets[];
  /** Views and paid views of all users in these days. */
  overall: { fills: number; rewards: number };
  /** The weights of the active campaigns of the same priority together. */
  competingWeight: number;
}

export type ForecastSettings = Pick<
  CampaignSettings,
  | "priority"
  | "weight"
  | "viewPriceMicros"
  | "dailyBudgetMicros"
  | "totalBudgetMicros"
  | "dailyViewCap"
  | "totalViewCap"
  | "targeting"
>;

type Forecast = Omit<AnswerOf<typeof campaignRoutes.forecastViews>, "currency">;

/**
 * What a campaign could have had on each day: what nobody filled, what campaigns of a later priority got, and of what its own
 * priority got, the part of its weight. As many of its views are watched to the end as of others at these targets. Caps and
 * pauses of users are as they were; its own cap for each user is not counted.
 */
export function forecast(
  settings: ForecastSettings,
  { days, requests, overall, competingWeight }: ForecastFacts,
): Forecast {
  const perDay = (count: number) => (days === 0 ? 0 : count / days);
  const sum = (count: (row: RequestsAtTargets) => number) => requests.reduce((all, row) => all + count(row), 0);
  const [fills, unfilled] = [sum((row) => row.fills), sum((row) => row.unfilled)];
  const ownShare = settings.weight / (settings.weight + competingWeight);
  const won = unfilled + sum((row) => row.fills * shareOf(row.priority, settings.priority, ownShare));
  const traffic =
    perDay(won) * completionOf(fills < ENOUGH_VIEWS ? overall : { fills, rewards: sum(({ rewards }) => rewards) });
  const { dailyBudgetMicros, dailyViewCap, viewPriceMicros } = settings;
  const limits = {
    traffic,
    "daily-budget":
      dailyBudgetMicros === null || viewPriceMicros === 0
        ? Number.POSITIVE_INFINITY
        : dailyBudgetMicros / viewPriceMicros,
    "daily-views": dailyViewCap ?? Number.POSITIVE_INFINITY,
  } satisfies Record<Forecast["limitedBy"], number>;
  const names = Object.keys(limits) as Forecast["limitedBy"][];
  const limitedBy = names.reduce((least, name) => (limits[name] < limits[least] ? name : least), "traffic");
  const viewsPerDay = Math.floor(limits[limitedBy]);
  return {
    days,
    requestsPerDay: Math.round(perDay(fills + unfilled)),
    unfilledPerDay: Math.round(perDay(unfilled)),
    viewsPerDay,
    limitedBy,
    spendPerDayMicros: viewsPerDay * viewPriceMicros,
    daysOfBudget: daysOfBudget(settings, viewsPerDay),
  };
}

/** How much of what a campaign of this priority was shown for would be won from it. */
function shareOf(shown: CampaignPriority | null, own: CampaignPriority, ownShare: number): number {
  // A campaign that is gone left its requests to the others.
  if (shown === null) return ownShare;
  const difference = campaignPriorities.indexOf(shown) - campaignPriorities.indexOf(own);
  if (difference === 0) return ownShare;
  return difference > 0 ? 1 : 0;
}

function completionOf({ fills, rewards }: { fills: number; rewards: number }): number {
  return fills === 0 ? 1 : Math.min(1, rewards / fills);
}

function daysOfBudget(settings: ForecastSettings, viewsPerDay: number): number | null {
  const { totalBudgetMicros, totalViewCap, viewPriceMicros } = settings;
  const ofBudget = totalBudgetMicros === null || viewPriceMicros === 0 ? [] : [totalBudgetMicros / viewPriceMicros];
  const views = [...ofBudget, ...(totalViewCap === null ? [] : [totalViewCap])];
  if (views.length === 0 || viewsPerDay === 0) return null;
  return Math.round((Math.min(...views) / viewsPerDay) * 10) / 10;
}

/** `fills` of a campaign that no longer exists have no priority, and so has what was not filled. */
const requestsAtTargets = statement<RequestsAtTargets>(
  "campaigns.requests-at-targets",
  `select campaigns.priority, sum(sums.fills)::float8 as fills, sum(sums.no_fills)::float8 as unfilled,
     sum(sums.rewards)::float8 as rewards
   from stats_audiences sums join bots using (bot_id) left join campaigns using (campaign_id)
   where sums.span = $1 and sums.starts_at >= $2 and sums.starts_at < $3
     and ($4::text[] is null or sums.bot_id = any($4)) and ($5::text[] is null or sums.bot_id <> all($5))
     and ($6::text[] is null or bots.category = any($6))
     and ($7::text[] is null or bots.category is null or bots.category <> all($7))
     and ($8::text[] is null or sums.language = any($8)) and ($9::text[] is null or sums.platform = any($9))
     and ($10::text[] is null or sums.country = any($10)) and ($11::text is null or sums.premium = $11)
     and ($12::integer[] is null or extract(hour from sums.starts_at at time zone bots.time_zone) = any($12))
     and ($13::integer[] is null or extract(isodow from sums.starts_at at time zone bots.time_zone) = any($13))
   group by campaigns.priority`,
);

/** How many of the days had traffic, since the first that had. */
const trafficOfWeek = statement<{ firstDay: Date | null; fills: number; rewards: number }>(
  "campaigns.traffic-of-week",
  `select min(starts_at) as "firstDay", coalesce(sum(fills), 0)::float8 as fills, coalesce(sum(rewards), 0)::float8 as rewards
   from stats_bot_sums where span = 'day' and starts_at >= $1 and starts_at < $2`,
);

const competing = statement<{ weight: number }>(
  "campaigns.competing-weight",
  `select coalesce(sum(weight), 0)::float8 as weight from campaigns
   where status = 'active' and priority = $1 and 'rewarded' = any(formats) and campaign_id is distinct from $2`,
);

/** Facts of the last seven whole days (UTC). Hours and weekdays are those of each bot. */
export async function readForecastFacts(
  database: Database,
  {
    targeting,
    priority,
    campaignId,
    now,
  }: Pick<ForecastSettings, "targeting" | "priority"> & {
    campaignId?: string | undefined;
    now: Date;
  },
): Promise<ForecastFacts> {
  const to = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const from = new Date(to.getTime() - DAYS * DAY_MS);
  const { bots, excludedBots, botCategories, excludedBotCategories, languages, platforms, countries } = targeting;
  const { premium, hours, weekdays } = targeting;
  // Sums of days say nothing of hours, nor of the weekdays of another zone.
  const span = hours === undefined && weekdays === undefined ? "day" : "hour";
  const isPremium = premium === undefined ? null : premium ? "premium" : "regular";
  const lists = [bots, excludedBots, botCategories, excludedBotCategories, languages, platforms, countries];
  const [requests, week, others] = await Promise.all([
    database.run(requestsAtTargets, [
      span,
      from,
      to,
      ...lists.map((list) => list ?? null),
      isPremium,
      hours ?? null,
      weekdays ?? null,
    ]),
    database.run(trafficOfWeek, [from, to]),
    database.run(competing, [priority, campaignId ?? null]),
  ]);
  const { firstDay = null, fills = 0, rewards = 0 } = week[0] ?? {};
  return {
    days: firstDay === null ? 0 : Math.round((to.getTime() - firstDay.getTime()) / DAY_MS),
    requests,
    overall: { fills, rewards },
    competingWeight: others[0]?.weight ?? 0,
  };
}
