import { type Statement, statement } from "@intermission/postgres/open-database";
import { addFacts, type FactColumns } from "./add-facts.ts";
import { measureOf, measureOfEvent, measureOfMilestone, measureOfRequest } from "./measures.ts";

/** One kind of raw row that the sums are computed from. */
export interface Source {
  /** Its row in `stats_progress`. */
  name:
    | "requests"
    | "milestones"
    | "events"
    | "refused-clicks"
    | "cta-clicks"
    | "conversions"
    | "reversals"
    | "refunds";
  /** Where a batch ends: of rows from `$1` on, the transaction of the first row beyond the batch size. No row: all fit. */
  end: Statement<{ xid: string }>;
  /** Adds rows of transactions from `$1` to before `$2` and moves the position. Up to the time `$3` all rows are counted. */
  add: Statement<{ source: string }>;
}

/** 10 ms of PostgreSQL. */
const BATCH = 10_000;
/** Smaller, since visits that are refused meanwhile wait for the locks on their counts. */
const BATCH_OF_COUNTS = 1000;

/** `from` reads rows of the given transactions; `facts` selects what `addFacts` needs. `more`: CTEs of other sums. */
interface SourceRows extends FactColumns {
  from: (transactions: string, limit?: string) => string;
  facts: string;
  more?: string;
}

function source(name: Source["name"], { from, facts, more = "", ...columns }: SourceRows): Source {
  return {
    name,
    end: statement(
      `statistics.end-of-${name}`,
      `select xid from ${from("xid >= $1::xid8", `order by xid limit ${BATCH + 1}`)} order by xid offset ${BATCH} limit 1`,
    ),
    add: statement(
      `statistics.add-${name}`,
      `with facts as (select ${facts} from ${from("xid >= $1::xid8 and xid < $2::xid8")}),
      ${addFacts(columns)}${more}
      update stats_progress set xid = $2::xid8, counted_until = coalesce($3::timestamptz, counted_until)
       where source = '${name}' returning source`,
    ),
  };
}

const factKey = "bot_id, campaign_id, creative_id, audience, occurred_at";

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
     order by quarter, bot_id, code, reason offset ${BATCH_OF_COUNTS} limit 1`,
  ),
  add: statement(
    "statistics.add-refused-clicks",
    `with waiting as (
      select bot_id, code, reason, quarter, count, summed from click_refusals where not is_summed
      order by quarter, bot_id, code, reason limit ${BATCH_OF_COUNTS} for update
    ),
    summed as (
      update click_refusals set summed = waiting.count, is_summed = true from waiting
      where click_refusals.bot_id = waiting.bot_id and click_refusals.code = waiting.code
        and click_refusals.reason = waiting.reason and click_refusals.quarter = waiting.quarter
    ),
    facts as (
      select bot_id, null::text as campaign_id, null::text as creative_id, '' as audience, quarter as occurred_at,
        'clicks-refused' as measure, reason, count - summed as added
      from waiting
    ),
    ${addFacts({ measures: ["clicks-refused"], amount: "added" })}
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

const viewRevenue = (event: string, sign: "" | "-") =>
  `case ${event} when 'rewarded' then ${sign}revenue_micros else 0 end as view_revenue_micros`;

/** CTEs that add to the sums of events and currencies: `reported` or `reversed` conversions and their value. */
const addToConversions = (column: "reported" | "reversed") => `,
      by_event as (
        insert into conversion_quarters (bot_id, quarter, campaign_id, creative_id, event, currency, ${column}, ${column}_micros)
        select bot_id, date_bin('15 minutes', occurred_at, 'epoch'), campaign_id, coalesce(creative_id, ''), event, currency,
          count(*), coalesce(sum(value_micros), 0)
        from facts group by 1, 2, 3, 4, 5, 6
        on conflict (bot_id, quarter, campaign_id, creative_id, event, currency) do update set
          ${column} = conversion_quarters.${column} + excluded.${column},
          ${column}_micros = conversion_quarters.${column}_micros + excluded.${column}_micros
      )`;
const conversionFacts = `${factKey}, 'conversions' as measure, '' as reason, event, currency, value_micros`;

export const sources: readonly Source[] = [
  source("requests", {
    from: inTable("ad_requests"),
    facts: `${factKey}, ${measureOf("outcome", measureOfRequest)}, reason`,
    measures: Object.values(measureOfRequest),
  }),
  source("milestones", {
    from: inTable("ad_milestones"),
    facts: `${factKey}, ${measureOf("milestone", measureOfMilestone)}, reason`,
    measures: Object.values(measureOfMilestone),
  }),
  source("events", {
    from: ofEachBot,
    facts: `${factKey}, ${measureOf("event", measureOfEvent)}, '' as reason,
      price_micros as spend_micros, revenue_micros, ${viewRevenue("event", "")}`,
    measures: Object.values(measureOfEvent),
    hasMoney: true,
  }),
  source("refunds", {
    from: inTable("refunds"),
    facts: `${factKey}, 'refunds' as measure, event as reason, -price_micros as spend_micros,
      -revenue_micros as revenue_micros, ${viewRevenue("event", "-")}`,
    measures: ["refunds"],
    hasMoney: true,
  }),
  refusedClicks,
  source("cta-clicks", {
    from: inTable("cta_clicks"),
    facts: `${factKey}, 'taps' as measure, '' as reason`,
    measures: ["taps"],
  }),
  source("conversions", {
    from: inTable("conversions"),
    facts: conversionFacts,
    measures: ["conversions"],
    more: addToConversions("reported"),
  }),
  source("reversals", {
    from: inTable("conversion_reversals"),
    facts: conversionFacts,
    measures: ["conversions"],
    amount: "-1",
    more: addToConversions("reversed"),
  }),
];
