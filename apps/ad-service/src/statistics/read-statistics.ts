import { sql } from "kysely";
import type { AdDatabase } from "../ad-database.ts";
import { type Figures, figuresOf, type Sum } from "./figures-of.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DEFAULT_DAYS = 7;
const MOST_DAYS = { hour: 31, other: 400 };

export type TimeRange =
  | { outcome: "range"; from: Date; to: Date }
  | { outcome: "bad-range"; field: "from" | "to"; message: string };

/** The requested period in whole hours, like the sums; without bounds the last seven days, today included. */
export function timeRange(
  given: { from?: string | undefined; to?: string | undefined },
  by: string,
  now: Date,
): TimeRange {
  const to = new Date(Math.ceil((given.to === undefined ? now : new Date(given.to)).getTime() / HOUR_MS) * HOUR_MS);
  const weekAgo = Math.floor((to.getTime() - 1) / DAY_MS) * DAY_MS - (DEFAULT_DAYS - 1) * DAY_MS;
  const start = given.from === undefined ? weekAgo : new Date(given.from).getTime();
  const from = new Date(Math.floor(start / HOUR_MS) * HOUR_MS);
  if (from >= to) return { outcome: "bad-range", field: "from", message: "must be before the end" };
  const most = by === "hour" ? MOST_DAYS.hour : MOST_DAYS.other;
  if (to.getTime() - from.getTime() > most * DAY_MS) {
    return { outcome: "bad-range", field: "from", message: `must be at most ${most} days before the end, by ${by}` };
  }
  return { outcome: "range", from, to };
}

/** The operator's names of the bots or campaigns with these ids. */
export async function namesOfKeys(
  database: AdDatabase,
  by: Dimension,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0 || (by !== "bot" && by !== "campaign")) return new Map();
  const rows =
    by === "bot"
      ? await database.query.selectFrom("bots").select(["bot_id as key", "name"]).where("bot_id", "in", keys).execute()
      : await database.query
          .selectFrom("campaigns")
          .select(["campaign_id as key", "name"])
          .where("campaign_id", "in", keys)
          .execute();
  return new Map(rows.map(({ key, name }) => [key, name]));
}

export interface DeliverySuccess {
  delivered: number;
  underWay: number;
  failed: number;
  /** The delivered share of those that ended; null if none ended. */
  successRate: number | null;
}

/** The current outcomes of the webhooks for a period's events: a replay can still improve them. */
export async function readDeliverySuccess(
  database: AdDatabase,
  { botId, from, to }: { botId?: string | undefined; from: Date; to: Date },
): Promise<DeliverySuccess> {
  // Event ids begin with their time, so the primary key finds those of a bot and a period.
  let query = database.query
    .selectFrom("deliveries")
    .innerJoin("events", (join) =>
      join.onRef("events.bot_id", "=", "deliveries.bot_id").onRef("events.event_id", "=", "deliveries.event_id"),
    )
    .select(({ fn }) => ["deliveries.state", fn.countAll<number>().as("count")])
    .where("events.is_test", "=", false)
    .where("deliveries.event_id", ">=", firstEventIdAt(from))
    .where("deliveries.event_id", "<", firstEventIdAt(to));
  if (botId !== undefined) query = query.where("deliveries.bot_id", "=", botId);
  const counts = new Map((await query.groupBy("deliveries.state").execute()).map((row) => [row.state, row.count]));
  const countOf = (...states: Parameters<typeof counts.get>) =>
    states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
  const delivered = countOf("delivered");
  const failed = countOf("failed") + countOf("unknown");
  const over = delivered + failed;
  return {
    delivered,
    underWay: countOf("waiting") + countOf("sending") + countOf("held"),
    failed,
    successRate: over === 0 ? null : Math.round((delivered / over) * 10_000) / 10_000,
  };
}

/** `evt_` and a UUIDv7, whose first 48 bits are the milliseconds. */
function firstEventIdAt(moment: Date): string {
  const hex = Math.max(0, moment.getTime()).toString(16).padStart(12, "0");
  return `evt_${hex.slice(0, 8)}-${hex.slice(8)}`;
}

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

function momentsBetween(from: Date, to: Date, by: "hour" | "day"): string[] {
  const stepMs = by === "hour" ? HOUR_MS : 24 * HOUR_MS;
  const first = Math.floor(from.getTime() / stepMs) * stepMs;
  const count = Math.max(0, Math.ceil((to.getTime() - first) / stepMs));
  return Array.from({ length: count }, (_, index) => {
    const moment = new Date(first + index * stepMs).toISOString();
    return by === "hour" ? moment.replace(".000Z", "Z") : moment.slice(0, 10);
  });
}
