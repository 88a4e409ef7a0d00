import { dayOf, daysBetween, hourOf, hoursBetween } from "@intermission/operator-api/days-in-zone";
import { dimensionsOf } from "@intermission/operator-api/report-address";
import type { Dimension } from "@intermission/operator-api/report-figures";
import type { Language } from "../words/languages.ts";
import { type Figure, isQuotient, type Report, type Row } from "./figures.ts";
import type { Line, LineChart } from "./line-chart.ts";
import { nameOfKey } from "./names-of-keys.ts";
import type { ReportsSearch } from "./search.ts";

/** More lines cannot be told apart. */
const MAX_LINES = 5;
const MAX_BARS = 15;

/** A report by objects: a bar for each of the first rows. */
export interface BarChart {
  kind: "bars";
  bars: { name: string; value: number; before: number | undefined }[];
  left: number;
}

/** What a report's chart shows of one figure at a moment (`now`). */
export function chartOf(
  report: Pick<Report, "rows" | "from" | "to" | "timeZone">,
  search: ReportsSearch,
  {
    figure,
    words,
    language,
    now,
  }: { figure: Figure; words: { all: string; before: string; notRecorded: string }; language: Language; now: Date },
): LineChart | BarChart {
  const dimensions = dimensionsOf(search);
  const time = dimensions.find(isTime);
  const objects = dimensions.filter((one) => !isTime(one));
  const nameOf = (row: Row) =>
    objects.map((object) => nameOfKey(language, row, object) ?? words.notRecorded).join(", ");
  if (time === undefined) return barsOf(report.rows, figure, nameOf);
  // Of a report by objects, too, whose rows leave out the days and hours in which nothing happened.
  const times = (time === "day" ? daysBetween : hoursBetween)(report.timeZone, report.from, report.to);
  const current = times.indexOf((time === "day" ? dayOf : hourOf)(report.timeZone, now));
  const unfinished = current === -1 ? undefined : current;
  const valuesOf = (rows: readonly Row[], of: (row: Row) => number | null | undefined) => {
    const byTime = new Map(rows.map((row) => [row.keys[time], of(row) ?? null]));
    return times.map((at) => byTime.get(at) ?? (isQuotient(figure) ? null : 0));
  };
  if (objects.length === 0) {
    const lines: Line[] = [{ name: words.all, values: valuesOf(report.rows, (row) => row[figure]) }];
    const isCompared = report.rows.some(({ before }) => before !== undefined);
    if (isCompared) {
      lines.push({ name: words.before, values: valuesOf(report.rows, (row) => row.before?.[figure]), isBefore: true });
    }
    return { kind: "lines", times, lines, unfinished, left: 0 };
  }
  const ofObjects = [
    ...Map.groupBy(report.rows, ({ keys }) => objects.map((object) => keys[object]).join(" ")).values(),
  ].toSorted((one, other) => sumOf(other, figure) - sumOf(one, figure));
  const lines = ofObjects.slice(0, MAX_LINES).flatMap((rows) => {
    const [first] = rows;
    return first ? [{ name: nameOf(first), values: valuesOf(rows, (row) => row[figure]) }] : [];
  });
  return { kind: "lines", times, lines, unfinished, left: ofObjects.length - lines.length };
}

function barsOf(rows: readonly Row[], figure: Figure, nameOf: (row: Row) => string): BarChart {
  const bars = rows.slice(0, MAX_BARS).map((row) => ({
    name: nameOf(row),
    value: row[figure] ?? 0,
    before: row.before?.[figure] ?? undefined,
  }));
  return { kind: "bars", bars, left: rows.length - bars.length };
}

const sumOf = (rows: readonly Row[], figure: Figure) => rows.reduce((sum, row) => sum + (row[figure] ?? 0), 0);

function isTime(dimension: Dimension): dimension is "day" | "hour" {
  return dimension === "day" || dimension === "hour";
}
