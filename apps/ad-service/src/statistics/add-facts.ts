import { audienceColumns } from "../ad-selection/audience.ts";
import { type Measure, measureColumns, moneyColumns, type ReasonedMeasure, reasonedMeasures } from "./measures.ts";

/** What a CTE `facts` of a statement has, beside bot_id, campaign_id, creative_id, audience, measure and occurred_at. */
export interface FactColumns {
  /** The measures that its rows may have. */
  measures: readonly Measure[];
  /** It has the columns spend_micros, revenue_micros and view_revenue_micros. */
  hasMoney?: boolean;
  /** SQL of how often a row counts: 1, unless a row is a count itself, or takes something back. */
  amount?: string;
}

/** The beginning of the span (UTC) that a moment is in. */
const spans = `(values ('quarter', interval '15 minutes'), ('hour', '1 hour'), ('six-hours', '6 hours'), ('day', '24 hours')) as spans (span, width)`;
const startsAt = "date_bin(width, occurred_at, 'epoch')";

const sumKey = ["span", "starts_at", "bot_id", "campaign_id", "creative_id"];
const audienceKey = ["span", "starts_at", "bot_id", "campaign_id", "country", "platform", "language", "premium"];
const ofNoCampaign = "coalesce(campaign_id, '') as campaign_id, coalesce(creative_id, '') as creative_id";

/**
 * CTEs that add the rows of the CTE `facts` to all sums, each to those of all its spans. The
 * statement runs in a transaction that has the lock of the sums.
 */
export function addFacts({ measures, hasMoney = false, amount = "1" }: FactColumns): string {
  const isReasoned = (measure: Measure): measure is ReasonedMeasure =>
    reasonedMeasures.some((each) => each === measure);
  const counts = measures.map((measure) => ({
    column: measureColumns[measure],
    sum: `coalesce(sum(amount) filter (where measure = '${measure}'), 0)::integer`,
  }));
  const money = hasMoney ? moneyColumns.map((column) => ({ column, sum: `sum(${column})` })) : [];
  const reasoned = measures.filter(isReasoned);
  return `placed as materialized (
      select span, ${startsAt} as starts_at, bot_id, ${ofNoCampaign}, ${audienceColumns}, measure, reason,
        ${amount} as amount${hasMoney ? `, ${moneyColumns.join(", ")}` : ""}
      from facts cross join ${spans}
    ),
    added_sums as (${addTo("stats_sums", sumKey, [...counts, ...money])}),
    added_audiences as (${addTo("stats_audiences", audienceKey, [...counts, ...money])})${
      reasoned.length === 0
        ? ""
        : `,
    added_reasons as (
      insert into stats_reasons (${[...sumKey, "measure", "reason"].join(", ")}, count)
      select ${sumKey.join(", ")}, measure, reason, sum(amount) from placed
      where measure in (${reasoned.map((measure) => `'${measure}'`).join(", ")})
      group by ${[...sumKey, "measure", "reason"].join(", ")}
      on conflict (${[...sumKey, "measure", "reason"].join(", ")}) do update set
        count = stats_reasons.count + excluded.count
    )`
    }`;
}

function addTo(table: string, key: readonly string[], sums: readonly { column: string; sum: string }[]): string {
  return `
      insert into ${table} (${[...key, ...sums.map(({ column }) => column)].join(", ")})
      select ${[...key, ...sums.map(({ sum }) => sum)].join(", ")} from placed group by ${key.join(", ")}
      on conflict (${key.join(", ")}) do update set
        ${sums.map(({ column }) => `${column} = ${table}.${column} + excluded.${column}`).join(",\n        ")}
    `;
}
