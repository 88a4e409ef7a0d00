import { type Database, type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import type { FastifyBaseLogger } from "fastify";
import { measureOf, measureOfEvent, measureOfMilestone, measureOfRequest } from "./measures.ts";

/** One kind of raw row that the sums are computed from. */
export interface Source {
  /** Its row in `stats_progress`. */
  name: "requests" | "milestones" | "events" | "refused-clicks" | "cta-clicks" | "conversions" | "refunds";
  /** Where a batch ends: of rows from `$1` on, the transaction of the first row beyond the batch size. No row: all fit. */
  end: Statement<{ xid: string }>;
  /** Adds rows of transactions from `$1` to before `$2` and moves the position. Up to the time `$3` all rows are counted. */
  add: Statement<{ source: string }>;
}

/** 10 ms of PostgreSQL. */
const BATCH = 10_000;
/** Smaller, since visits that are refused meanwhile wait for the locks on their counts. */
const BATCH_OF_COUNTS = 1000;

/**
 * `from` reads rows of the given transactions; `facts` selects bot_id, campaign_id, creative_id, measure, reason,
 * occurred_at, spend_micros and revenue_micros from them. `more`: further CTEs that add them to other sums.
 */
function source(
  name: Source["name"],
  { from, facts, more = "" }: { from: (transactions: string, limit?: string) => string; facts: string; more?: string },
): Source {
  return {
    name,
    end: statement(
      `statistics.end-of-${name}`,
      `select xid from ${from("xid >= $1::xid8", `order by xid limit ${BATCH + 1}`)} order by xid offset ${BATCH} limit 1`,
    ),
    add: statement(
      `statistics.add-${name}`,
      `with facts as (select ${facts} from ${from("xid >= $1::xid8 and xid < $2::xid8")}),
      added as (
        insert into stats_hours (bot_id, hour, campaign_id, creative_id, measure, reason, count, spend_micros, revenue_micros)
        select bot_id, date_trunc('hour', occurred_at, 'UTC'), coalesce(campaign_id, ''), coalesce(creative_id, ''), measure,
          reason, count(*), sum(spend_micros), sum(revenue_micros)
        from facts group by 1, 2, 3, 4, 5, 6
        on conflict (bot_id, hour, campaign_id, creative_id, measure, reason) do update set
          count = stats_hours.count + excluded.count,
          spend_micros = stats_hours.spend_micros + excluded.spend_micros,
          revenue_micros = stats_hours.revenue_micros + excluded.revenue_micros
      )${more}
      update stats_progress set xid = $2::xid8, counted_until = coalesce($3::timestamptz, counted_until)
       where source = '${name}' returning source`,
    ),
  };
}

const noMoney = "0::bigint as spend_micros, 0::bigint as revenue_micros";
const factKey = "bot_id, campaign_id, creative_id, occurred_at";

/*
 * Here rows are counters that change, not facts that stay: each row stores how much of its count is in the sums, and the
 * difference is added under its lock. So the order of commits does not matter, and a concurrent increment is not missed.
 * The position only reports freshness; it selects no rows.
 */
const refusedClicks: Source = {
  name: "refused-clicks",
  // If more than one batch waits, the position moves by one, and the next batch follows.
  end: statement(
    "statistics.end-of-refused-clicks",
    `select $1::xid8 as xid from click_refusals where not is_summed
     order by hour, bot_id, code, reason offset ${BATCH_OF_COUNTS} limit 1`,
  ),
  add: statement(
    "statistics.add-refused-clicks",
    `with waiting as (
      select bot_id, code, reason, hour, count, summed from click_refusals where not is_summed
      order by hour, bot_id, code, reason limit ${BATCH_OF_COUNTS} for update
    ),
    summed as (
      update click_refusals set summed = waiting.count, is_summed = true from waiting
      where click_refusals.bot_id = waiting.bot_id and click_refusals.code = waiting.code
        and click_refusals.reason = waiting.reason and click_refusals.hour = waiting.hour
    ),
    added as (
      insert into stats_hours (bot_id, hour, measure, reason, count)
      select bot_id, hour, 'clicks-refused', reason, sum(count - summed) from waiting group by 1, 2, 4 order by 1, 2, 4
      on conflict (bot_id, hour, campaign_id, creative_id, measure, reason) do update set
        count = stats_hours.count + excluded.count
    )
    update stats_progress set xid = $2::xid8, counted_until = coalesce($3::timestamptz, counted_until)
     where source = 'refused-clicks' and $1::xid8 is not null returning source`,
  ),
};

const inTable = (table: string) => (transactions: string) => `${table} where ${transactions}`;

/** Through the index of the feed: an index of its own would cost each event another entry. */
const ofEachBot = (
  transactions: string,
  limit = "offset 0",
) => `(select bot_id as id from bots) as bot cross join lateral (
  select * from events where events.bot_id = bot.id and price_micros is not null and ${transactions} ${limit}
) as events`;

export const sources: readonly Source[] = [
  source("requests", {
    from: inTable("ad_requests"),
    facts: `${factKey}, ${measureOf("outcome", measureOfRequest)}, reason, ${noMoney}`,
  }),
  source("milestones", {
    from: inTable("ad_milestones"),
    facts: `${factKey}, ${measureOf("milestone", measureOfMilestone)}, reason, ${noMoney}`,
  }),
  source("events", {
    from: ofEachBot,
    facts: `${factKey}, ${measureOf("event", measureOfEvent)}, '' as reason,
      price_micros as spend_micros, revenue_micros`,
  }),
  source("refunds", {
    from: inTable("refunds"),
    facts: `${factKey}, 'refunds' as measure, event as reason, -price_micros as spend_micros,
      -revenue_micros as revenue_micros`,
  }),
  refusedClicks,
  source("cta-clicks", {
    from: inTable("cta_clicks"),
    facts: `${factKey}, 'taps' as measure, '' as reason, ${noMoney}`,
  }),
  source("conversions", {
    from: inTable("conversions"),
    facts: `${factKey}, 'conversions' as measure, '' as reason, ${noMoney}, event, currency, value_micros`,
    more: `,
      by_event as (
        insert into conversion_hours (bot_id, hour, campaign_id, creative_id, event, currency, reported, reported_micros)
        select bot_id, date_trunc('hour', occurred_at, 'UTC'), campaign_id, coalesce(creative_id, ''), event, currency,
          count(*), coalesce(sum(value_micros), 0)
        from facts group by 1, 2, 3, 4, 5, 6
        on conflict (bot_id, hour, campaign_id, creative_id, event, currency) do update set
          reported = conversion_hours.reported + excluded.reported,
          reported_micros = conversion_hours.reported_micros + excluded.reported_micros
      )`,
  }),
];

// One node adds at a time: the others skip the locked row and retry later.
const claim = statement<{ xid: string; settled: string; now: Date }>(
  "statistics.claim",
  `select xid, settled_xid() as settled, clock_timestamp() as now
   from stats_progress where source = $1 for update skip locked`,
);

/**
 * Adds rows committed since the last run to the sums of their hours, one batch of each source. A row is counted when every
 * transaction that began before its own has ended, so that none commits behind the position up to which all are counted.
 * Sums and position commit together, so that a crash at any moment leaves either both or neither.
 */
export async function rollUpStatistics(database: Pick<Database, "transaction">): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const source of sources) {
    hasMore = (await database.transaction((tx) => addBatch(tx, source))) || hasMore;
  }
  return { hasMore };
}

async function addBatch(tx: Transaction, source: Source): Promise<boolean> {
  const [place] = await tx.run(claim, [source.name]);
  if (!place || BigInt(place.settled) <= BigInt(place.xid)) return false;
  const end = (await tx.run(source.end, [place.xid]))[0]?.xid;
  const upTo = end === undefined ? place.settled : endOfBatch(place, end);
  const isAll = upTo === place.settled;
  await tx.run(source.add, [place.xid, upTo, isAll ? place.now : null]);
  return !isAll;
}

/** A batch ends after at least one whole transaction, however many rows it wrote. */
function endOfBatch({ xid, settled }: { xid: string; settled: string }, end: string): string {
  const next = BigInt(end) > BigInt(xid) ? BigInt(end) : BigInt(xid) + 1n;
  return String(next < BigInt(settled) ? next : BigInt(settled));
}

const PRUNE_EVERY_MS = 60_000;

/** Rolls up every few seconds and prunes every minute until it is stopped. Any number of nodes may run it. */
export function startRollingUpStatistics(deps: {
  database: Database;
  log: Pick<FastifyBaseLogger, "error">;
  everyMs?: number;
  now?: () => Date;
}): BackgroundLoop {
  const { database, log, everyMs = 5000, now = () => new Date() } = deps;

  let pruneAt = 0;

  /** Returns whether there is more to do immediately. */
  async function work(): Promise<boolean> {
    const rolledUp = await rollUpStatistics(database);
    if (rolledUp.hasMore || performance.now() < pruneAt) return rolledUp.hasMore;
    const pruned = await pruneFacts(database, { now: now() });
    if (!pruned.hasMore) pruneAt = performance.now() + PRUNE_EVERY_MS;
    return pruned.hasMore;
  }

  return startLoop({
    everyMs,
    round: async () => ((await work()) ? 0 : undefined),
    onFault: (error) => log.error(error, "the statistics could not be rolled up; trying again"),
  });
}

/** Long enough to compare a month with the same one of the year before, row by row. */
const KEPT = "interval '13 months'";
/** Small enough not to delay other statements. */
const MAX_PRUNED_AT_ONCE = 1000;

const olderThanKept = (moment: string) => `${moment} < $1::timestamptz - ${KEPT}`;
const oldRows = {
  ad_requests: olderThanKept("occurred_at"),
  ad_milestones: olderThanKept("occurred_at"),
  cta_clicks: olderThanKept("occurred_at"),
  ad_reports: olderThanKept("reported_at"),
  withheld_clicks: olderThanKept("occurred_at"),
  click_refusals: olderThanKept("hour"),
  conversions: olderThanKept("occurred_at"),
  // Limits read the rows of today and yesterday (UTC).
  address_days: "day < ($1::timestamptz at time zone 'utc')::date - 1",
  network_days: "day < ($1::timestamptz at time zone 'utc')::date - 1",
};

const prunes = Object.entries(oldRows).map(([table, isOld]) =>
  statement<never>(
    `statistics.prune-${table}`,
    `delete from ${table} where ctid = any (array(
       select ctid from ${table} where ${isOld}
       limit ${MAX_PRUNED_AT_ONCE} for update skip locked
     ))
     returning 1`,
  ),
);

// Only suspicious clicks have a visitor. Without suspicions a click leaves the index that finds it here.
const blankVisitors = statement<never>(
  "statistics.blank-visitors",
  `update events set suspicions = null, user_agent = null, address_hash = null, network_hash = null
   where ctid = any (array(
     select ctid from events where suspicions is not null and ${olderThanKept("occurred_at")}
     limit ${MAX_PRUNED_AT_ONCE} for update skip locked
   ))
   returning 1`,
);

/** Deletes one small batch of each kind of rows that are no longer needed; the sums of facts stay. */
export async function pruneFacts(
  database: Pick<Database, "run">,
  { now }: { now: Date },
): Promise<{ hasMore: boolean }> {
  let hasMore = false;
  for (const prune of [...prunes, blankVisitors])
    hasMore = (await database.run(prune, [now])).length >= MAX_PRUNED_AT_ONCE || hasMore;
  return { hasMore };
}
