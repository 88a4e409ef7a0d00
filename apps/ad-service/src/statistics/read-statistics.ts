import { firstEventIdAt } from "@intermission/ad-core/code";
import type { Dimension } from "@intermission/operator-api/statistics";
import { type Database, statement } from "@intermission/postgres/open-database";
import { dayOf, daysBetween, daysLater, startOfDay } from "./days-in-zone.ts";
import { type Figures, figuresOf, type Sum } from "./figures-of.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 7;
const MAX_DAYS = { hour: 31, other: 400 };

export type TimeRange =
  | { outcome: "range"; from: Date; to: Date }
  | { outcome: "bad-range"; field: "from" | "to"; message: string };

/** The requested period in whole hours, like the sums; without bounds the last seven days of the zone, today included. */
export function timeRange(
  bounds: { from?: Date | undefined; to?: Date | undefined },
  by: string,
  now: Date,
  timeZone = "UTC",
): TimeRange {
  const end = bounds.to ?? now;
  // Compared before both are widened to whole hours.
  if (bounds.from !== undefined && bounds.from >= end) {
    const which = bounds.to === undefined ? "now, where no end is named" : bounds.to.toISOString();
    return { outcome: "bad-range", field: "from", message: `must be before the end (${which})` };
  }
  const to = new Date(Math.ceil(end.getTime() / HOUR_MS) * HOUR_MS);
  const today = dayOf(timeZone, new Date(to.getTime() - 1));
  const weekAgo = startOfDay(timeZone, daysLater(today, 1 - DEFAULT_DAYS)).getTime();
  const from = new Date(Math.floor((bounds.from?.getTime() ?? weekAgo) / HOUR_MS) * HOUR_MS);
  const most = by === "hour" ? MAX_DAYS.hour : MAX_DAYS.other;
  if (to.getTime() - from.getTime() > most * DAY_MS) {
    return { outcome: "bad-range", field: "from", message: `must be at most ${most} days before the end, by ${by}` };
  }
  return { outcome: "range", from, to };
}

const nameStatements = {
  bot: statement<{ key: string; name: string }>(
    "statistics.names-of-bots",
    "select bot_id as key, name from bots where bot_id = any($1)",
  ),
  campaign: statement<{ key: string; name: string }>(
    "statistics.names-of-campaigns",
    "select campaign_id as key, name from campaigns where campaign_id = any($1)",
  ),
  creative: statement<{ key: string; name: string }>(
    "statistics.names-of-creatives",
    "select creative_id as key, name from creatives where creative_id = any($1) and name is not null",
  ),
};

/** The operator's names of the bots, campaigns or creatives with these ids. */
export async function namesOfKeys(
  database: Database,
  by: Dimension,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0 || by === "hour" || by === "day") return new Map();
  const rows = await database.run(nameStatements[by], [keys]);
  return new Map(rows.map(({ key, name }) => [key, name]));
}

export interface DeliverySuccess {
  delivered: number;
  underWay: number;
  failed: number;
  /** The delivered share of those that ended; null if none ended. */
  successRate: number | null;
}

/** For all bots, or `ofBot` for $3 alone: a generic plan of one statement for both would not use the bot's index. */
const countDeliveries = (scope: "bot" | "all", ofBot = "") =>
  statement<Pick<DeliverySuccess, "delivered" | "underWay" | "failed">>(
    `statistics.deliveries-of-${scope}`,
    `select count(*) filter (where state = 'delivered') as delivered,
       count(*) filter (where state in ('waiting', 'sending', 'held')) as "underWay",
       count(*) filter (where state in ('failed', 'unknown')) as failed
     from deliveries join events using (bot_id, event_id)
     where not is_test and event_id >= $1 and event_id < $2 ${ofBot}`,
  );
// Event ids begin with their time, so the primary key finds those of a bot and a period.
const deliveriesOfBot = countDeliveries("bot", "and bot_id = $3");
const deliveriesOfAll = countDeliveries("all");

/** The current outcomes of the webhooks for a period's events: a replay can still improve them. */
export async function readDeliverySuccess(
  database: Database,
  { botId, from, to }: { botId?: string | undefined; from: Date; to: Date },
): Promise<DeliverySuccess> {
  const period = [firstEventIdAt(from), firstEventIdAt(to)];
  const [counted = { delivered: 0, underWay: 0, failed: 0 }] =
    botId === undefined
      ? await database.run(deliveriesOfAll, period)
      : await database.run(deliveriesOfBot, [...period, botId]);
  const { delivered, failed } = counted;
  const over = delivered + failed;
  return { ...counted, successRate: over === 0 ? null : Math.round((delivered / over) * 10_000) / 10_000 };
}

export interface StatisticsQuestion {
  botId?: string | undefined;
  campaignId?: string | undefined;
  /** Of these campaigns only, such as those of one advertiser. */
  campaignIds?: readonly string[] | undefined;
  creativeId?: string | undefined;
  /** Of the days; UTC by default. An hour belongs to the day in which it begins. */
  timeZone?: string | undefined;
  /** Whole hours: from (included) to (excluded). */
  from: Date;
  to: Date;
  by: Dimension;
}

export interface Statistics {
  /** Hours and days by their start, in order, empty ones included; else ids, the busiest first. */
  rows: { key: string; figures: Figures }[];
  total: Figures;
  /** Webhooks of this period's events; undefined if the query selects less than whole bots. */
  deliveries: DeliverySuccess | undefined;
  /** Every row that was committed before this time is counted. */
  countedUntil: Date | undefined;
}

const keys = {
  hour: `to_char(hour at time zone 'utc', 'YYYY-MM-DD"T"HH24:00:00"Z"')`,
  day: "to_char(hour at time zone $5, 'YYYY-MM-DD')",
  bot: "bot_id",
  campaign: "campaign_id",
  creative: "creative_id",
} satisfies Record<Dimension, string>;

/** Sums of money are text: `numeric` has digits that a number has not. */
interface SumRow extends Omit<Sum, "spendMicros" | "revenueMicros"> {
  key: string;
  spendMicros: string;
  revenueMicros: string;
}

/** For all bots, or `ofBot` for $6 alone, as in `countDeliveries`. */
const sumsBy = (by: Dimension, ofWhom: string, ofBot = "") =>
  statement<SumRow>(
    `statistics.by-${by}-of-${ofWhom}`,
    `select ${keys[by]} as key, measure, reason, sum(count)::bigint as count, sum(spend_micros)::text as "spendMicros",
       sum(revenue_micros)::text as "revenueMicros"
     from stats_hours
     where hour >= $1 and hour < $2 and ($3::text[] is null or campaign_id = any ($3))
       and ($4::text is null or creative_id = $4) and $5::text is not null ${ofBot}
     group by 1, measure, reason`,
  );
const sumsOfAll = {
  hour: sumsBy("hour", "all"),
  day: sumsBy("day", "all"),
  bot: sumsBy("bot", "all"),
  campaign: sumsBy("campaign", "all"),
  creative: sumsBy("creative", "all"),
};
const ofBot = "and bot_id = $6";
const sumsOfBot = {
  hour: sumsBy("hour", "bot", ofBot),
  day: sumsBy("day", "bot", ofBot),
  bot: sumsBy("bot", "bot", ofBot),
  campaign: sumsBy("campaign", "bot", ofBot),
  creative: sumsBy("creative", "bot", ofBot),
};

const progress = statement<{ countedUntil: Date | number }>(
  "statistics.counted-until",
  `select counted_until as "countedUntil" from stats_progress`,
);

/** The sums of a period, for a bot, a campaign, a creative or all, split by one dimension. */
export async function readStatistics(database: Database, question: StatisticsQuestion): Promise<Statistics> {
  const [sums, deliveries, countedUntil] = await Promise.all([
    readSums(database, question),
    isOfWholeBots(question) ? readDeliverySuccess(database, question) : undefined,
    readCountedUntil(database),
  ]);
  const byKey = Map.groupBy(sums, ({ key }) => key);
  const found = [...byKey].map(([key, ofKey]) => ({ key, figures: figuresOf(ofKey) }));
  return {
    rows: orderRows(found, question),
    total: figuresOf(sums),
    deliveries,
    countedUntil: countedUntil && Number.isFinite(countedUntil.getTime()) ? countedUntil : undefined,
  };
}

function isOfWholeBots({ campaignId, campaignIds, creativeId }: StatisticsQuestion): boolean {
  return campaignId === undefined && campaignIds === undefined && creativeId === undefined;
}

async function readSums(database: Database, question: StatisticsQuestion): Promise<(Sum & { key: string })[]> {
  const { by, from, to, campaignId, campaignIds, creativeId, botId, timeZone = "UTC" } = question;
  const named = campaignId === undefined ? campaignIds : [campaignId].filter((id) => campaignIds?.includes(id) ?? true);
  const values = [from, to, named, creativeId, timeZone];
  const rows =
    botId === undefined
      ? await database.run(sumsOfAll[by], values)
      : await database.run(sumsOfBot[by], [...values, botId]);
  return rows.map((row) => ({
    ...row,
    spendMicros: BigInt(row.spendMicros),
    revenueMicros: BigInt(row.revenueMicros),
  }));
}

async function readCountedUntil(database: Database): Promise<Date | undefined> {
  const moments = (await database.run(progress, [])).map(({ countedUntil }) => new Date(countedUntil).getTime());
  return moments.length === 0 ? undefined : new Date(Math.min(...moments));
}

type StatisticsRow = Statistics["rows"][number];

function orderRows(found: StatisticsRow[], { by, from, to, timeZone = "UTC" }: StatisticsQuestion): StatisticsRow[] {
  if (by !== "hour" && by !== "day") {
    const weight = ({ figures }: StatisticsRow) => Number(figures.spendMicros) + figures.requests + figures.clicks;
    return found.toSorted((a, b) => weight(b) - weight(a) || (a.key < b.key ? -1 : 1));
  }
  const known = new Map(found.map((row) => [row.key, row]));
  const keysInTime = by === "hour" ? hoursBetween(from, to) : daysBetween(timeZone, from, to);
  return keysInTime.map((key) => known.get(key) ?? { key, figures: figuresOf([]) });
}

function hoursBetween(from: Date, to: Date): string[] {
  const first = Math.floor(from.getTime() / HOUR_MS) * HOUR_MS;
  const count = Math.max(0, Math.ceil((to.getTime() - first) / HOUR_MS));
  return Array.from({ length: count }, (_, index) =>
    new Date(first + index * HOUR_MS).toISOString().replace(".000Z", "Z"),
  );
}
