import { type HiddenFigure, reportFigures } from "@intermission/operator-api/report-figures";
import {
  type Measure,
  measureRows,
  measures,
  type ReasonedMeasure,
  type ReportFigures,
  reasonedMeasures,
} from "./measures.ts";

/** The sums of all measures and of the money: of a period, a bot, a campaign or any other group. */
export interface Sums {
  counts: Record<Measure, number>;
  spendMicros: bigint;
  revenueMicros: bigint;
  /** The part of the revenue that views earned, less refunds of views. */
  viewRevenueMicros: bigint;
}

/** The counts of measures by reason. */
export type Reasons = { [One in ReasonedMeasure]?: Record<string, number> };

export const noSums: Sums = {
  counts: Object.fromEntries(measures.map((measure) => [measure, 0])) as Record<Measure, number>,
  spendMicros: 0n,
  revenueMicros: 0n,
  viewRevenueMicros: 0n,
};

/** The figures of a report, with its money in whole: a double would lose digits. */
export type Figures = Omit<ReportFigures, HiddenFigure> & {
  spendMicros: bigint;
  revenueMicros: bigint;
  /** The publisher's revenue from views per thousand views that began. */
  ecpmMicros: bigint | null;
};

// In the order of the schema, which is that of the columns in CSV.
const names = Object.keys(reportFigures.shape) as (keyof ReportFigures)[];

export function figuresOf({ counts, ...money }: Sums, reasons: Reasons): Figures {
  const { fills, starts, completions, taps } = counts;
  const requests = fills + counts["no-fills"];
  const { spendMicros, revenueMicros, viewRevenueMicros } = money;
  const figures: Figures = {
    ...countsByFigure(counts),
    ...reasonsByFigure(reasons),
    requests,
    fillRate: share(fills, requests),
    completionRate: share(completions, starts),
    tapRate: share(taps, starts),
    spendMicros,
    revenueMicros,
    ecpmMicros: starts === 0 ? null : quotient(viewRevenueMicros * 1000n, BigInt(starts)),
  };
  return Object.fromEntries(names.map((name) => [name, figures[name]])) as Figures;
}

type Rows = typeof measureRows;
type CountFigures = Record<Rows[Measure]["figure"], number>;
type ReasonFigures = Record<Rows[ReasonedMeasure]["reasons"], Record<string, number>>;

// Entries lose the names of their types.
function countsByFigure(counts: Sums["counts"]): CountFigures {
  return Object.fromEntries(measures.map((one) => [measureRows[one].figure, counts[one]])) as CountFigures;
}

function reasonsByFigure(reasons: Reasons): ReasonFigures {
  return Object.fromEntries(
    reasonedMeasures.map((one) => [measureRows[one].reasons, reasons[one] ?? {}]),
  ) as ReasonFigures;
}

/** Halves are rounded up. */
export function quotient(dividend: bigint, divisor: bigint): bigint {
  const doubled = 2n * dividend + divisor;
  const quotient = doubled / (2n * divisor);
  return doubled < 0n && doubled % (2n * divisor) !== 0n ? quotient - 1n : quotient;
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
}
