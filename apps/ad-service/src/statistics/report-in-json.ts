import {
  type Dimension,
  type HiddenFigure,
  type ReportReader,
  seenBy,
} from "@intermission/operator-api/report-figures";
import { jsonInteger } from "@intermission/server/exact-json";
import type { Figures } from "./figures-of.ts";
import type { ReportRow } from "./read-report.ts";
import type { UsersReport } from "./read-users.ts";

type VisibleFigures = Omit<Figures, HiddenFigure> & Partial<Pick<Figures, HiddenFigure>>;

/** A row as its reader may see it. `names`: of the keys that have one, by dimension. */
export interface ShownRow {
  keys: Partial<Record<Dimension, string>>;
  names: Partial<Record<Dimension, string>>;
  figures: VisibleFigures;
  before?: VisibleFigures;
}

/** Without the amounts that the reader must not know. */
export function visibleFigures(figures: Figures, reader: ReportReader): VisibleFigures {
  const { hidden } = seenBy[reader];
  const shown: VisibleFigures = { ...figures };
  for (const field of hidden) delete shown[field];
  return shown;
}

/** `names`: for each dimension, the names of its keys. */
export function shownRow(
  { keys, figures, before }: ReportRow,
  {
    by,
    names,
    reader,
  }: { by: readonly Dimension[]; names: readonly ReadonlyMap<string, string>[]; reader: ReportReader },
): ShownRow {
  const named = by.flatMap((dimension, index) => {
    const name = names[index]?.get(keys[index] ?? "");
    return name === undefined ? [] : [[dimension, name] as const];
  });
  return {
    keys: Object.fromEntries(by.map((dimension, index) => [dimension, keys[index] ?? ""])),
    names: Object.fromEntries(named),
    figures: visibleFigures(figures, reader),
    ...(before && { before: visibleFigures(before, reader) }),
  };
}

/** Amounts have all their digits. */
export function figuresInJson({ spendMicros, revenueMicros, ecpmMicros, ...counts }: VisibleFigures) {
  return {
    ...counts,
    ...(spendMicros !== undefined && { spendMicros: jsonInteger(spendMicros) }),
    ...(revenueMicros !== undefined && { revenueMicros: jsonInteger(revenueMicros) }),
    ...(ecpmMicros !== undefined && { ecpmMicros: ecpmMicros === null ? null : jsonInteger(ecpmMicros) }),
  };
}

export function rowInJson({ keys, names, figures, before }: ShownRow, by: readonly Dimension[]) {
  const [only] = by.length === 1 ? by : [];
  return {
    key: by.map((dimension) => keys[dimension]).join(" "),
    name: only && names[only],
    keys,
    names,
    ...figuresInJson(figures),
    ...(before && { before: figuresInJson(before) }),
  };
}

/** Without the publishers' revenue, where the reader must not know it. */
export function usersInJson(report: UsersReport, reader: ReportReader) {
  if (report.state !== "read") return report;
  const { revenuePerUserMicros, revenuePerUserDayMicros, ...counts } = report;
  if (seenBy[reader].hidden.includes("revenueMicros")) return counts;
  const money = (micros: bigint | null) => (micros === null ? null : jsonInteger(micros));
  return {
    ...counts,
    revenuePerUserMicros: money(revenuePerUserMicros),
    revenuePerUserDayMicros: money(revenuePerUserDayMicros),
  };
}
