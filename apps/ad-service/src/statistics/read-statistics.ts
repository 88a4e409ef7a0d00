import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import { type Figures, figuresOf, type Sum } from "./figures-of.ts";
import { type DeliverySuccess, readDeliverySuccess } from "./read-delivery-success.ts";

export const dimensions = ["hour", "day", "bot", "campaign", "creative"] as const;
export type Dimension = (typeof dimensions)[number];

export interface StatisticsQuestion {
  botId?: string | undefined;
  campaignId?: string | undefined;
  creativeId?: string | undefined;
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
  hour: sql<string>`to_char(hour at time zone 'utc', 'YYYY-MM-DD"T"HH24:00:00"Z"')`,
  day: sql<string>`to_char(hour at time zone 'utc', 'YYYY-MM-DD')`,
  bot: sql<string>`bot_id`,
  campaign: sql<string>`campaign_id`,
  creative: sql<string>`creative_id`,
} satisfies Record<Dimension, unknown>;

/** The sums of a period, for a bot, a campaign, a creative or all, split by one dimension. */
export async function readStatistics(database: AdDatabase, question: StatisticsQuestion): Promise<Statistics> {
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

function isOfWholeBots({ campaignId, creativeId }: StatisticsQuestion): boolean {
  return campaignId === undefined && creativeId === undefined;
}

function readSums(database: AdDatabase, question: StatisticsQuestion): Promise<(Sum & { key: string })[]> {
  const key = keys[question.by];
  let query = database.query
    .selectFrom("stats_hours")
    .select([key.as("key"), "measure", "reason"])
    .select(({ cast, fn }) => [
      cast<number>(fn.sum("count"), "bigint").as("count"),
      cast<number>(fn.sum("spend_micros"), "bigint").as("spendMicros"),
      cast<number>(fn.sum("revenue_micros"), "bigint").as("revenueMicros"),
    ])
    .where("hour", ">=", question.from)
    .where("hour", "<", question.to);
  if (question.botId !== undefined) query = query.where("bot_id", "=", question.botId);
  if (question.campaignId !== undefined) query = query.where("campaign_id", "=", question.campaignId);
  if (question.creativeId !== undefined) query = query.where("creative_id", "=", question.creativeId);
  return query.groupBy([sql`1`, "measure", "reason"]).execute();
}

async function readCountedUntil(database: AdDatabase): Promise<Date | undefined> {
  const rows = await database.query.selectFrom("stats_progress").select("counted_until").execute();
  const moments = rows.map(({ counted_until }) => new Date(counted_until).getTime());
  return moments.length === 0 ? undefined : new Date(Math.min(...moments));
}

type StatisticsRow = Statistics["rows"][number];

function orderRows(found: StatisticsRow[], { by, from, to }: StatisticsQuestion): StatisticsRow[] {
  if (by !== "hour" && by !== "day") {
    const weight = ({ figures }: StatisticsRow) => figures.spendMicros + figures.requests + figures.clicks;
    return found.toSorted((a, b) => weight(b) - weight(a) || (a.key < b.key ? -1 : 1));
  }
  const known = new Map(found.map((row) => [row.key, row]));
  return momentsBetween(from, to, by).map((key) => known.get(key) ?? { key, figures: figuresOf([]) });
}

const HOUR_MS = 3_600_000;

function momentsBetween(from: Date, to: Date, by: "hour" | "day"): string[] {
  const stepMs = by === "hour" ? HOUR_MS : 24 * HOUR_MS;
  const first = Math.floor(from.getTime() / stepMs) * stepMs;
  const count = Math.max(0, Math.ceil((to.getTime() - first) / stepMs));
  return Array.from({ length: count }, (_, index) => {
    const moment = new Date(first + index * stepMs).toISOString();
    return by === "hour" ? moment.replace(".000Z", "Z") : moment.slice(0, 10);
  });
}
