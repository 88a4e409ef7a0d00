import { amountOf } from "@intermission/operator-api/amounts";
import { type CsvValue, csvOf } from "@intermission/operator-api/csv";
import { dayOf, hourOf } from "@intermission/operator-api/days-in-zone";
import type { Dimension } from "@intermission/operator-api/report-figures";
import type { ShownRow } from "./report-in-json.ts";

export interface CsvReport {
  by: readonly Dimension[];
  currency: string;
  rows: readonly ShownRow[];
  total: ShownRow["figures"];
  /** What the first lines name; undefined: the file begins with its columns. */
  period?: CsvPeriod | undefined;
}

interface Period {
  from: Date;
  to: Date;
}

interface CsvPeriod extends Period {
  timeZone: string;
  comparison: Period | undefined;
  countedUntil: Date | undefined;
}

type Fields = Record<string, CsvValue>;

/**
 * The rows of a report as CSV (RFC 4180): a line for each row, without the total, and a column for each reason. A report by one
 * dimension has its values in `key`, one by several in a column of each. Amounts are in millionths and in the currency.
 */
export function statsCsv({ by, currency, rows, total, period }: CsvReport): string {
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
  return csvOf([
    ...(period === undefined ? [] : headingOf(period)),
    columns,
    ...lines.map((line) => columns.map((column) => line[column] ?? emptyValue(column))),
  ]);
}

/** The lines above the table: the period and its time zone, since a file may be renamed. `to` is exclusive. */
function headingOf({ from, to, timeZone, comparison, countedUntil }: CsvPeriod): CsvValue[][] {
  const clock = (at: Date) => hourOf(timeZone, at);
  return [
    ["from", clock(from)],
    ["to", clock(to)],
    ["timeZone", timeZone],
    ...(comparison
      ? [
          ["comparedFrom", clock(comparison.from)],
          ["comparedTo", clock(comparison.to)],
        ]
      : []),
    ["countedUntil", countedUntil],
    [],
  ];
}

/** The name of a report's file: its first and last day, and their zone. */
export function csvNameOf({ from, to, timeZone }: Period & { timeZone: string }): string {
  const days = [from, new Date(to.getTime() - 1)].map((at) => dayOf(timeZone, at));
  return `report_${days.join("_")}_${timeZone.replaceAll("/", "-")}.csv`;
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
