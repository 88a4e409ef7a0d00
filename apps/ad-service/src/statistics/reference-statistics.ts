import type { ReferenceFigures, ReferenceKey } from "@intermission/ad-core/client-api";
import { type Database, statement } from "@intermission/postgres/open-database";
import { jsonInteger } from "@intermission/server/exact-json";
import { bucketsOf } from "./time-pieces.ts";

interface ReferenceQuestion {
  botId: string;
  /** The beginning of the references; "" is any reference. */
  prefix: string;
  /** Whole hours: from (included) to (excluded). */
  from: Date;
  to: Date;
  by: ReferenceKey;
  /** Of days and hours; UTC by default. */
  timeZone?: string | undefined;
}

type ReferenceStatistics =
  /** Hours and days in order, references by their revenue; those without events are left out. */
  | { outcome: "read"; rows: (ReferenceFigures & { key: string })[]; leftOut: number; total: ReferenceFigures }
  | { outcome: "too-many" };

/** What one answer may read, some 200 ms of PostgreSQL. */
export const MAX_EVENTS_READ = 100_000;
const MAX_ROWS = 1000;

// The node cuts days and hours, as for all reports: `$6` has their keys, and `$7` when each begins.
const bucket = "($6::text[])[width_bucket(occurred_at, $7::timestamptz[])]";
const keys = {
  hour: bucket,
  day: bucket,
  reference: "reference",
} satisfies Record<ReferenceKey, string>;

interface Row {
  /** Null: the total. */
  key: string | null;
  rewards: number;
  clicks: number;
  users: number;
  refunds: number;
  /** Of the events without the refunded ones; text, since sums may have more digits than a number. */
  revenueMicros: string;
}

/*
 * Reads events, which a reference belongs to: sums by reference would be as many rows, since many publishers use each once.
 * Each day is looked up in the index by bot, day and prefix, so that nothing but matching events is read, and at most one more
 * than the maximum. U+10FFFF is above all that may follow a prefix.
 */
const readBy = (by: ReferenceKey) =>
  statement<Row>(
    `statistics.of-references-by-${by}`,
    `with found as materialized (
      select ${keys[by]} as key, event, user_id, event_id, bot_id, revenue_micros
      from generate_series(($2::timestamptz at time zone 'utc')::date, ($3::timestamptz at time zone 'utc')::date, '1 day') as day
      cross join lateral (
        select * from events
        where bot_id = $1 and (occurred_at at time zone 'utc')::date = day::date and price_micros is not null
          and reference collate "C" >= $4 and reference collate "C" < $4 || chr(1114111)
          and occurred_at >= $2 and occurred_at < $3
        offset 0
      ) as events
      limit $5::integer + 1
    ),
    judged as (
      select found.*, refunded.event_id is not null as is_refunded from found
      left join lateral (select event_id from refunds where refunds.event_id = found.event_id limit 1) as refunded on true
    )
    select key, count(*) filter (where event = 'rewarded') as rewards, count(*) filter (where event = 'direct_link') as clicks,
      count(distinct user_id) as users, count(*) filter (where is_refunded) as refunds,
      coalesce(sum(revenue_micros) filter (where not is_refunded), 0)::text as "revenueMicros"
    from judged group by grouping sets ((key), ())`,
  );
const statements = { hour: readBy("hour"), day: readBy("day"), reference: readBy("reference") };

/** What the events whose reference begins with a prefix were worth, now: no sum has to be waited for. */
export async function readReferenceStatistics(
  database: Pick<Database, "run">,
  { botId, prefix, from, to, by, timeZone = "UTC" }: ReferenceQuestion,
  maxEvents = MAX_EVENTS_READ,
): Promise<ReferenceStatistics> {
  const buckets = by === "reference" ? undefined : bucketsOf({ from, to }, by, timeZone);
  const ofTime = buckets ? [buckets.map(({ key }) => key), buckets.map((bucket) => bucket.from)] : [];
  const found = await database.run(statements[by], [botId, from, to, prefix, maxEvents, ...ofTime]);
  const total = found.find(({ key }) => key === null);
  if (total === undefined) throw new Error("a sum without groups has one row");
  if (total.rewards + total.clicks > maxEvents) return { outcome: "too-many" };
  const rows = found.flatMap((row) => (row.key === null ? [] : [{ ...row, key: row.key }]));
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
  const byRevenue = (a: Row, b: Row) => Number(BigInt(b.revenueMicros) - BigInt(a.revenueMicros));
  const ordered = rows.toSorted((a, b) => (by === "reference" && byRevenue(a, b)) || byKey(a, b));
  return {
    outcome: "read",
    rows: ordered.slice(0, MAX_ROWS).map(({ key, ...row }) => ({ key, ...figuresOf(row) })),
    leftOut: Math.max(0, ordered.length - MAX_ROWS),
    total: figuresOf(total),
  };
}

function figuresOf({ rewards, clicks, users, refunds, revenueMicros }: Omit<Row, "key">): ReferenceFigures {
  return { rewards, clicks, users, refunds, revenue_micros: jsonInteger(BigInt(revenueMicros)) };
}
