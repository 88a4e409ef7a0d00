import type { Comparison, Dimension, ReportOrder } from "@intermission/operator-api/report-figures";
import { type Database, statement } from "@intermission/postgres/open-database";
import { type Figures, figuresOf, noSums } from "./figures-of.ts";
import { addSums, type GroupKey, type GroupSums, MAX_GROUPS, readSums, type SumFilter } from "./read-sums.ts";
import { type Bucket, bucketsOf, rangeBefore, type TimeDimension } from "./time-pieces.ts";

export interface ReportQuestion {
  of: SumFilter;
  /** At most one of them is a time. */
  by: readonly Dimension[];
  /** Of days and hours; UTC by default. */
  timeZone?: string | undefined;
  /** Whole quarters of an hour: from (included) to (excluded). */
  from: Date;
  to: Date;
  compare?: Comparison | undefined;
  /** Default: by time, or the busiest first. */
  orderBy?: ReportOrder | undefined;
  order?: "ascending" | "descending" | undefined;
}

export interface ReportRow {
  /** The values of the dimensions, in their order. */
  keys: string[];
  figures: Figures;
  /** Of the range that is compared with. */
  before?: Figures;
}

export type Report =
  | {
      outcome: "read";
      /** Of a report by time alone, hours and days without events too. */
      rows: ReportRow[];
      total: Figures;
      comparison: { from: Date; to: Date; total: Figures } | undefined;
      /** Every row that was committed before this time is counted; undefined while some kind of row never was. */
      countedUntil: Date | undefined;
    }
  | { outcome: "too-many" };

const progress = statement<{ countedUntil: Date | number }>(
  "statistics.counted-until",
  `select counted_until as "countedUntil" from stats_progress`,
);

/** The sums of a period, split by dimensions. It reads what the roll-up has counted, and adds nothing. */
export async function readReport(database: Pick<Database, "run">, question: ReportQuestion): Promise<Report> {
  const { of, by, timeZone = "UTC", compare } = question;
  // Read before the sums, which may only be newer.
  const countedUntil = await readCountedUntil(database);
  const time = by.find(isTime);
  const groupKeys = by.filter((one): one is GroupKey => !isTime(one));
  const buckets = bucketsOf(question, time, timeZone);
  const before = compare && rangeBefore(question, compare, timeZone);
  const groups = await readSums(database, { buckets, of, by: groupKeys });
  const groupsBefore = before
    ? await readSums(database, { buckets: namedAs(buckets, bucketsOf(before, time, timeZone)), of, by: groupKeys })
    : [];
  if (groups.length > MAX_GROUPS || groupsBefore.length > MAX_GROUPS) return { outcome: "too-many" };
  const rows = rowsOf(groups, groupsBefore, { by, isCompared: before !== undefined });
  const isByTimeAlone = time !== undefined && by.length === 1;
  const all = isByTimeAlone ? withEmpty(rows, buckets, before !== undefined) : rows;
  return {
    outcome: "read",
    rows: all.toSorted((one, other) =>
      comparePositions(positionOf(one, question), positionOf(other, question), question),
    ),
    total: totalOf(groups),
    comparison: before && { ...before, total: totalOf(groupsBefore) },
    countedUntil,
  };
}

/** The sum of a period that is not split. */
export async function readTotal(
  database: Pick<Database, "run">,
  { of, from, to }: Pick<ReportQuestion, "of" | "from" | "to">,
): Promise<Figures> {
  const buckets = bucketsOf({ from, to }, undefined, "UTC");
  return totalOf(await readSums(database, { buckets, of, by: [] }));
}

function isTime(dimension: Dimension): dimension is TimeDimension {
  return dimension === "day" || dimension === "hour";
}

async function readCountedUntil(database: Pick<Database, "run">): Promise<Date | undefined> {
  const moments = (await database.run(progress, [])).map(({ countedUntil }) => new Date(countedUntil).getTime());
  const first = Math.min(...moments);
  return Number.isFinite(first) ? new Date(first) : undefined;
}

/** Buckets of the range before, under the keys of those that they are compared with: the first with the first, and so on. */
function namedAs(buckets: readonly Bucket[], before: readonly Bucket[]): Bucket[] {
  return before.map((bucket, index) => ({ ...bucket, key: (buckets[index] ?? buckets.at(-1) ?? bucket).key }));
}

function rowsOf(
  groups: readonly GroupSums[],
  groupsBefore: readonly GroupSums[],
  { by, isCompared }: { by: readonly Dimension[]; isCompared: boolean },
): ReportRow[] {
  const keysOf = ({ bucket, keys }: GroupSums) => {
    const left = keys.values();
    return by.map((one) => (isTime(one) ? bucket : (left.next().value ?? "")));
  };
  const rows = new Map(
    groups.map((group): [string, ReportRow] => {
      const keys = keysOf(group);
      return [
        JSON.stringify(keys),
        { keys, figures: figuresOf(group.sums, group.reasons), ...(isCompared && { before: noFigures }) },
      ];
    }),
  );
  for (const group of groupsBefore) {
    const keys = keysOf(group);
    const row = rows.get(JSON.stringify(keys)) ?? { keys, figures: noFigures };
    rows.set(JSON.stringify(keys), { ...row, before: figuresOf(group.sums, group.reasons) });
  }
  return [...rows.values()];
}

const noFigures = figuresOf(noSums, {});

function withEmpty(rows: readonly ReportRow[], buckets: readonly Bucket[], isCompared: boolean): ReportRow[] {
  const known = new Map(rows.map((row) => [row.keys[0], row]));
  const empty = { figures: noFigures, ...(isCompared && { before: noFigures }) };
  return buckets.map(({ key }) => known.get(key) ?? { keys: [key], ...empty });
}

function totalOf(groups: readonly GroupSums[]): Figures {
  const { sums, reasons } = addSums(groups);
  return figuresOf(sums, reasons);
}

/** Where a row is in the order of its report. */
export interface RowPosition {
  value: number | bigint | null;
  keys: readonly string[];
}

export function positionOf({ keys, figures }: ReportRow, { by, orderBy }: ReportQuestion): RowPosition {
  if (orderBy !== undefined) return { value: figures[orderBy], keys };
  // Hours of a zone are ordered by their moment: where clocks are set back, two of them have the same digits.
  const time = by.findIndex(isTime);
  if (time >= 0) return { value: -Date.parse(keys[time] ?? ""), keys };
  return { value: figures.spendMicros + BigInt(figures.requests + figures.clicks), keys };
}

/** By value, rows without one last, and by keys where values are equal. */
export function comparePositions(
  one: RowPosition,
  other: RowPosition,
  { orderBy, order = "descending" }: Pick<ReportQuestion, "orderBy" | "order">,
): number {
  const sign = orderBy !== undefined && order === "ascending" ? 1 : -1;
  if (one.value !== other.value) {
    if (one.value === null) return 1;
    if (other.value === null) return -1;
    if (one.value < other.value) return -sign;
    if (one.value > other.value) return sign;
  }
  const index = one.keys.findIndex((key, at) => key !== other.keys[at]);
  return index < 0 ? 0 : (one.keys[index] ?? "") < (other.keys[index] ?? "") ? -1 : 1;
}
