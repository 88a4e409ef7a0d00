import { type Statement, statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import { audienceColumns } from "../viewers/audience.ts";
import type { GroupedFacts } from "./add-facts.ts";
import { type FactTable, factTables } from "./measures.ts";

type FactName = keyof typeof factTables;

/** One kind of raw row that the sums are computed from. */
export interface Source {
  /** Its row in `stats_progress`. */
  name: FactName | "refused-clicks";
  /** Where a batch ends: of rows from `$1` on, the transaction of the first row beyond the batch size. No row: all fit. */
  end: Statement<{ xid: string }>;
  /** The facts of transactions from `$1` to before `$2`. */
  read: Statement<GroupedFacts>;
  /** Adds the rows of the same transactions to sums of its own. */
  addBeside?: Statement<never>;
}

/** Its rows are counters that change, not facts that stay. */
export interface CounterSource extends Omit<Source, "read" | "addBeside"> {
  name: "refused-clicks";
  /** What the counters have grown by, and their counts, without a lock. */
  readCounts: Statement<GroupedFacts & ReadCounts>;
}

/** The counters of a group: the code of each, and its count. */
interface ReadCounts {
  codes: string[];
  counts: string[];
}

/** 10 ms of PostgreSQL. */
const BATCH = 10_000;
/** Smaller, since visits that are refused meanwhile wait until the counts are marked. */
const BATCH_OF_COUNTS = 1000;

const inRange = "xid >= $1::xid8 and xid < $2::xid8";

/** Groups the rows of `facts`, a query. `more`: further columns. */
const grouped = (facts: string, more = "") =>
  `select date_bin('15 minutes', occurred_at, 'epoch') as quarter, bot_id, coalesce(campaign_id, '') as campaign_id,
     coalesce(creative_id, '') as creative_id, ${audienceColumns}, measure, reason, sum(amount)::integer as amount,
     sum(spend)::text as spend_micros, sum(revenue)::text as revenue_micros, sum(view_revenue)::text as view_revenue_micros${more}
   from (
     ${facts}
   ) as facts
   group by quarter, bot_id, facts.campaign_id, facts.creative_id, audience, measure, reason`;

function sourceOf(name: FactName): Source {
  const { table, measure, reason = "''", amount = "1", money = ["0", "0", "0"] }: FactTable = factTables[name];
  const from = name === "events" ? ofEachBot : (transactions: string) => `${table} where ${transactions}`;
  const addBeside = besides[name];
  const [spend, revenue, viewRevenue] = money;
  return {
    name,
    end: statement(
      `statistics.end-of-${name}`,
      `select xid from ${from("xid >= $1::xid8", `order by xid limit ${BATCH + 1}`)} order by xid offset ${BATCH} limit 1`,
    ),
    read: statement(
      `statistics.read-${name}`,
      grouped(`select bot_id, campaign_id, creative_id, audience, occurred_at, ${measure} as measure, ${reason} as reason,
       ${amount} as amount, ${spend} as spend, ${revenue} as revenue, ${viewRevenue} as view_revenue
     from ${from(inRange)}`),
    ),
    ...(addBeside !== undefined && { addBeside: statement<never>(`statistics.add-${name}-beside`, addBeside) }),
  };
}

/*
 * Each counter stores how much of its count is in the sums, and the difference is added. Only the roll-up changes that, so it
 * reads the counters without a lock, and marks what it has added at the end of its transaction: a visit that is refused
 * meanwhile waits for two statements, not for those of all sums, and what it adds stays to be added.
 * So the order of commits does not matter. The position only reports freshness; it selects no rows.
 */
const refusedClicks: CounterSource = {
  name: "refused-clicks",
  // If more than one batch waits, the position moves by one, and the next batch follows.
  end: statement(
    "statistics.end-of-refused-clicks",
    `select $1::xid8 as xid from click_refusals where not is_summed
     order by quarter, bot_id, code, reason offset ${BATCH_OF_COUNTS} limit 1`,
  ),
  readCounts: statement(
    "statistics.read-refused-clicks",
    grouped(
      `(select bot_id, null as campaign_id, null as creative_id, '' as audience, quarter as occurred_at,
       'clicks-refused' as measure, reason, count - summed as amount, 0 as spend, 0 as revenue, 0 as view_revenue, code, count
     from click_refusals where not is_summed and $1::xid8 < $2::xid8
     order by quarter, bot_id, code, reason limit ${BATCH_OF_COUNTS})`,
      ", array_agg(code) as codes, array_agg(count::text) as counts",
    ),
  ),
};

const addedCounts = rowParameters({
  quarter: "timestamptz",
  bot_id: "text",
  code: "text",
  reason: "text",
  added: "bigint",
});

/** The order of the locks is that of the visits. */
const markCounts = statement<never>(
  "statistics.mark-refused-clicks",
  `with marked as (
     select bot_id, code, reason, quarter, added, click_refusals.count
     from (${addedCounts.table}) as input join click_refusals using (bot_id, code, reason, quarter)
     order by quarter, bot_id, code, reason for update of click_refusals
   )
   update click_refusals set summed = added, is_summed = marked.count = added from marked
   where click_refusals.bot_id = marked.bot_id and click_refusals.code = marked.code
     and click_refusals.reason = marked.reason and click_refusals.quarter = marked.quarter`,
);

/** Says of the counters that were read that their counts are in the sums. Refused visits wait from here until the commit. */
export async function markAdded(tx: Transaction, groups: readonly (GroupedFacts & ReadCounts)[]): Promise<void> {
  if (groups.length === 0) return;
  const rows = groups.flatMap(({ quarter, bot_id, reason, codes, counts }) =>
    codes.map((code, index) => ({ quarter, bot_id, code, reason, added: Number(counts[index]) })),
  );
  await tx.run(markCounts, addedCounts.values(rows));
}

/** Through the index of the feed: an index of its own would cost each event another entry. */
const ofEachBot = (
  transactions: string,
  limit = "offset 0",
) => `(select bot_id as id from bots) as bot cross join lateral (
  select * from events where events.bot_id = bot.id and price_micros is not null and ${transactions} ${limit}
) as events`;

/** Adds to the sums of events and currencies: `reported` or `reversed` conversions and their value. */
const addToConversions = (table: string, column: "reported" | "reversed") =>
  `insert into conversion_quarters (bot_id, quarter, campaign_id, creative_id, event, currency, ${column}, ${column}_micros)
   select bot_id, date_bin('15 minutes', occurred_at, 'epoch') as quarter, campaign_id, coalesce(creative_id, ''), event,
     currency, count(*), coalesce(sum(value_micros), 0)
   from ${table} where ${inRange} group by 1, 2, 3, 4, 5, 6
   on conflict (bot_id, quarter, campaign_id, creative_id, event, currency) do update set
     ${column} = conversion_quarters.${column} + excluded.${column},
     ${column}_micros = conversion_quarters.${column}_micros + excluded.${column}_micros`;

const besides: Partial<Record<FactName, string>> = {
  conversions: addToConversions("conversions", "reported"),
  reversals: addToConversions("conversion_reversals", "reversed"),
};

const factNames = Object.keys(factTables) as FactName[];
export const sources: readonly (Source | CounterSource)[] = [...factNames.map(sourceOf), refusedClicks];
