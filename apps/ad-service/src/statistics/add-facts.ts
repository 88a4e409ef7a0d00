import { statement, type Transaction } from "@intermission/postgres/open-database";
import { rowParameters } from "@intermission/postgres/row-parameters";
import type { audienceKeys } from "../viewers/audience.ts";
import { isReasoned, type Measure, measureRows, measures, moneyColumns } from "./measures.ts";
import { audienceTables, reasonTables, type SumTable, sumLevels, sumTables } from "./sum-tables.ts";

/** Facts of a quarter of an hour that have the same key, measure and reason: how many, and their money. */
export interface GroupedFacts extends Record<(typeof audienceKeys)[number], string> {
  quarter: Date;
  bot_id: string;
  campaign_id: string;
  creative_id: string;
  measure: Measure;
  reason: string;
  amount: number;
  // Text: sums may have more digits than a number.
  spend_micros: string;
  revenue_micros: string;
  view_revenue_micros: string;
}

const groups = rowParameters({
  quarter: "timestamptz",
  bot_id: "text",
  campaign_id: "text",
  creative_id: "text",
  country: "text",
  platform: "text",
  language: "text",
  premium: "text",
  measure: "text",
  reason: "text",
  amount: "integer",
  spend_micros: "text",
  revenue_micros: "text",
  view_revenue_micros: "text",
});

/** The groups, each once for each of its spans (UTC). */
const placed = `(
    select span, date_bin(width, quarter, 'epoch') as starts_at, facts.*
    from (${groups.table}) as facts cross join (
      values ('quarter', interval '15 minutes'), ('hour', '1 hour'), ('six-hours', '6 hours'), ('day', '24 hours')
    ) as spans (span, width)
  ) as placed`;

interface Summed {
  readonly column: string;
  /** SQL of what the groups of one key add. */
  readonly sum: string;
}

const allMeasures: readonly Summed[] = [
  ...measures.map((measure) => ({
    column: measureRows[measure].column,
    sum: `coalesce(sum(amount) filter (where measure = '${measure}'), 0)`,
  })),
  ...moneyColumns.map((column) => ({ column, sum: `sum(${column}::bigint)` })),
];
const count: readonly Summed[] = [{ column: "count", sum: "sum(amount)" }];

/** Adds groups to the sums of one table. A measure is one line of what is selected, and one of what is updated. */
function addTo({ table, key }: SumTable, sums: readonly Summed[]) {
  const keys = key.join(", ");
  return statement<never>(
    `statistics.add-to-${table}`,
    `insert into ${table} (${keys}, ${sums.map(({ column }) => column).join(", ")})
  select ${keys},
    ${sums.map(({ sum }) => sum).join(",\n    ")}
  from ${placed}
  group by ${keys}
  on conflict (${keys}) do update set
    ${sums.map(({ column }) => `${column} = ${table}.${column} + excluded.${column}`).join(",\n    ")}`,
  );
}

const additions = sumLevels.flatMap((level) => [
  addTo(sumTables[level], allMeasures),
  addTo(audienceTables[level], allMeasures),
]);
const additionsByReason = sumLevels.map((level) => addTo(reasonTables[level], count));

/** Adds facts to all sums: of their spans, in the tables of all levels. The transaction has the lock of the sums. */
export async function addFacts(tx: Transaction, facts: readonly GroupedFacts[]): Promise<void> {
  if (facts.length === 0) return;
  const values = groups.values(facts);
  for (const add of additions) await tx.run(add, values);
  const reasoned = facts.filter(({ measure }) => isReasoned(measure));
  if (reasoned.length === 0) return;
  const valuesByReason = groups.values(reasoned);
  for (const add of additionsByReason) await tx.run(add, valuesByReason);
}
