import { firstEventIdAt } from "@intermission/ad-core/code";
import type { Dimension } from "@intermission/operator-api/statistics";
import { type Database, statement } from "@intermission/postgres/open-database";
import { dayOf, daysLater, offsetOf, startOfDay } from "./days-in-zone.ts";
import { type Figures, figuresOf, noSums } from "./figures-of.ts";
import { addSums, readSums } from "./read-sums.ts";
import { bucketsOf } from "./time-pieces.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
const MAX_DAYS = { hour: 31, other: 400 };

export type TimeRange =
  | { outcome: "range"; from: Date; to: Date }
  | { outcome: "bad-range"; field: "from" | "to"; message: string };

/** The requested period in whole hours of the zone; without bounds the last seven days of the zone, today included. */
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
  const to = wholeHour(timeZone, end, Math.ceil);
  const today = dayOf(timeZone, new Date(to.getTime() - 1));
  const weekAgo = startOfDay(timeZone, daysLater(today, 1 - DEFAULT_DAYS));
  const from = bounds.from === undefined ? weekAgo : wholeHour(timeZone, bounds.from, Math.floor);
  const most = by === "hour" ? MAX_DAYS.hour : MAX_DAYS.other;
  if (to.getTime() - from.getTime() > most * DAY_MS) {
    return { outcome: "bad-range", field: "from", message: `must be at most ${most} days before the end, by ${by}` };
  }
  return { outcome: "range", from, to };
}

/** Hours of a zone begin at quarters of an hour of UTC. */
function wholeHour(timeZone: string, at: Date, round: (hours: number) => number): Date {
  const offset = offsetOf(timeZone, at);
  return new Date(round((at.getTime() + offset) / HOUR_MS) * HOUR_MS - offset);
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
  /** Of days and hours; UTC by default. */
  timeZone?: string | undefined;
  /** Whole quarters of an hour: from (included) to (excluded). */
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

const progress = statement<{ countedUntil: Date | number }>(
  "statistics.counted-until",
  `select counted_until as "countedUntil" from stats_progress`,
);

/** The sums of a period, for a bot, a campaign, a creative or all, split by one dimension. */
export async function readStatistics(database: Database, question: StatisticsQuestion): Promise<Statistics> {
  const { by, from, to, botId, campaignId, campaignIds, creativeId, timeZone = "UTC" } = question;
  const named = campaignId === undefined ? campaignIds : [campaignId].filter((id) => campaignIds?.includes(id) ?? true);
  const isInTime = by === "hour" || by === "day";
  const buckets = bucketsOf(question, isInTime ? by : undefined, timeZone);
  const of = { botIds: botId === undefined ? undefined : [botId], campaignIds: named, creativeId };
  const [groups, deliveries, countedUntil] = await Promise.all([
    readSums(database, { buckets, of, by: isInTime ? [] : [by] }),
    isOfWholeBots(question) ? readDeliverySuccess(database, { botId, from, to }) : undefined,
    readCountedUntil(database),
  ]);
  const rows = groups.map(({ bucket, keys: [key = ""], sums, reasons }) => ({
    key: isInTime ? bucket : key,
    figures: figuresOf(sums, reasons),
  }));
  const total = addSums(groups);
  return {
    rows: isInTime
      ? withEmpty(
          rows,
          buckets.map(({ key }) => key),
        )
      : busiestFirst(rows),
    total: figuresOf(total.sums, total.reasons),
    deliveries,
    countedUntil,
  };
}

function isOfWholeBots({ campaignId, campaignIds, creativeId }: StatisticsQuestion): boolean {
  return campaignId === undefined && campaignIds === undefined && creativeId === undefined;
}

/** Undefined while some kind of raw row was never counted. */
async function readCountedUntil(database: Database): Promise<Date | undefined> {
  const moments = (await database.run(progress, [])).map(({ countedUntil }) => new Date(countedUntil).getTime());
  const first = Math.min(...moments);
  return Number.isFinite(first) ? new Date(first) : undefined;
}

type StatisticsRow = Statistics["rows"][number];

function withEmpty(rows: readonly StatisticsRow[], keys: readonly string[]): StatisticsRow[] {
  const known = new Map(rows.map((row) => [row.key, row]));
  return keys.map((key) => known.get(key) ?? { key, figures: figuresOf(noSums, {}) });
}

function busiestFirst(rows: readonly StatisticsRow[]): StatisticsRow[] {
  const weight = ({ figures }: StatisticsRow) => Number(figures.spendMicros) + figures.requests + figures.clicks;
  return rows.toSorted((a, b) => weight(b) - weight(a) || (a.key < b.key ? -1 : 1));
}
