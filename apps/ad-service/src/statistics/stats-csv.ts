import { amountOf } from "@intermission/operator-api/amounts";
import { type CsvValue, csvOf } from "@intermission/operator-api/csv";
import type { Dimension } from "@intermission/operator-api/statistics";
import type { ShownRow } from "./report-in-json.ts";

export interface CsvReport {
  by: readonly Dimension[];
  currency: string;
  rows: readonly ShownRow[];
  total: ShownRow["figures"];
}

type Fields = Record<string, CsvValue>;

/**
 * The rows of a report as CSV (RFC 4180): a line for each row, without the total, and a column for each reason. A report by one
 * dimension has its values in `key`, one by several in a column of each. Amounts are in millionths and in the currency.
 */
export function statsCsv({ by, currency, rows, total }: CsvReport): string {
  const [only] = by.length === 1 ? by : [];
  const lines = rows.map(({ keys, names, figures, before }): Fields => {
    const name = only && names[only];
    return {
      ...(only === undefined
        ? { ...keys, ...namesOf(names) }
        : { key: keys[only], ...(name !== undefined && { name }) }),
      ...figureFields(figures, currency),
      ...(before && prefixed("before.", figureFields(before, currency))),
    };
  });
  // A report without rows has its columns, too: those of the total.
  const keyColumns = only === undefined ? [...by] : ["key"];
  const columns = [
    ...new Set([...keyColumns, ...[...lines, figureFields(total, currency)].flatMap((line) => Object.keys(line))]),
  ];
  return csvOf([columns, ...lines.map((line) => columns.map((column) => line[column] ?? emptyValue(column)))]);
}

/** A reason that a row lacks has the count 0; a name or a share that it lacks is empty. */
function emptyValue(column: string): number | string {
  return column.replace(/^before\./, "").includes(".") ? 0 : "";
}

function namesOf(names: ShownRow["names"]): Fields {
  return Object.fromEntries(Object.entries(names).map(([dimension, name]) => [`${dimension}Name`, name]));
}

function figureFields(figures: ShownRow["figures"], currency: string): Fields {
  const { spendMicros, revenueMicros, ecpmMicros } = figures;
  return {
    ...flattened(figures),
    currency,
    ...(spendMicros !== undefined && { spend: amountOf(spendMicros) }),
    ...(revenueMicros !== undefined && { revenue: amountOf(revenueMicros) }),
    ...(ecpmMicros !== undefined && { ecpm: ecpmMicros === null ? null : amountOf(ecpmMicros) }),
  };
}

function prefixed(prefix: string, fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [prefix + name, value]));
}

/** Counts by reason become a field for each reason, as `closes.tap`. */
function flattened(figures: ShownRow["figures"]): Fields {
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, value]): [string, CsvValue][] => {
      if (typeof value !== "object" || value === null) return [[name, value]];
      return Object.entries(value).map(([reason, count]) => [`${name}.${reason}`, count]);
    }),
  );
}
