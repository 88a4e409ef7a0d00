import { audienceColumns } from "../ad-selection/audience.ts";
import { type Measure, measureColumns, moneyColumns, type ReasonedMeasure, reasonedMeasures } from "./measures.ts";
import { audienceTables, reasonTables, type SumTable, sumLevels, sumTables } from "./sum-tables.ts";

/** What a CTE `facts` of a statement has, beside bot_id, campaign_id, creative_id, audience, measure and occurred_at. */
export interface FactColumns {
  /** The measures that its rows may have. */
  measures: readonly Measure[];
  /** It has the columns spend_micros, revenue_micros and view_revenue_micros. */
  hasMoney?: boolean;
  /** SQL of how often a row counts: 1, unless a row is a count itself, or takes something back. */
  amount?: string;
}

const spans = `(values ('quarter', interval '15 minutes'), ('hour', '1 hour'), ('six-hours', '6 hours'), ('day', '24 hours')) as spans (span, width)`;

/**
 * CTEs that add the rows of the CTE `facts` to all sums: each to those of its spans (UTC), in the tables of all levels. The
 * statement runs in a transaction that has the lock of the sums.
 */
export function addFacts({ measures, hasMoney = false, amount = "1" }: FactColumns): string {
  const isReasoned = (measure: Measure): measure is ReasonedMeasure =>
    reasonedMeasures.some((each) => each === measure);
  const counts = measures.map((measure) => ({
    column: measureColumns[measure],
    sum: `coalesce(sum(amount) filter (where measure = '${measure}'), 0)`,
  }));
  const money = hasMoney ? moneyColumns.map((column) => ({ column, sum: `sum(${column})` })) : [];
  const reasoned = measures.filter(isReasoned).map((measure) => `'${measure}'`);
  const added = sumLevels.flatMap((level) => [
    addTo(sumTables[level], [...counts, ...money]),
    addTo(audienceTables[level], [...counts, ...money]),
    ...(reasoned.length === 0
      ? []
      : [
          addTo(
            reasonTables[level],
            [{ column: "count", sum: "sum(amount)" }],
            `where measure in (${reasoned.join(", ")})`,
          ),
        ]),
  ]);
  return `grouped as materialized (
      select date_bin('15 minutes', occurred_at, 'epoch') as quarter, bot_id, coalesce(campaign_id, '') as campaign_id,
        coalesce(creative_id, '') as creative_id, ${audienceColumns}, measure, reason,
        sum(${amount}) as amount${money.map(({ column, sum }) => `, ${sum} as ${column}`).join("")}
      from facts group by quarter, bot_id, facts.campaign_id, facts.creative_id, audience, measure, reason
    ),
    placed as materialized (
      select span, date_bin(width, quarter, 'epoch') as starts_at, grouped.* from grouped cross join ${spans}
    ),
    ${added.join(",\n    ")}`;
}

function addTo({ table, key }: SumTable, sums: readonly { column: string; sum: string }[], where = ""): string {
  return `added_to_${table} as (
      insert into ${table} (${[...key, ...sums.map(({ column }) => column)].join(", ")})
      select ${[...key, ...sums.map(({ sum }) => sum)].join(", ")} from placed ${where} group by ${key.join(", ")}
      on conflict (${key.join(", ")}) do update set
        ${sums.map(({ column }) => `${column} = ${table}.${column} + excluded.${column}`).join(",\n        ")}
    )`;
}
