import type { HiddenFigure, reportFigures } from "@intermission/operator-api/statistics";
import type { z } from "zod";
import { type Measure, measures, type ReasonedMeasure } from "./measures.ts";

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

type ReportFigures = z.output<typeof reportFigures>;

/** The figures of a report, with its money in whole: a double would lose digits. */
export type Figures = Omit<ReportFigures, HiddenFigure> & {
  spendMicros: bigint;
  revenueMicros: bigint;
  /** The publisher's revenue from views per thousand views that began. */
  ecpmMicros: bigint | null;
};

export function figuresOf({ counts, ...money }: Sums, reasons: Reasons): Figures {
  const { fills, starts, completions, taps } = counts;
  const requests = fills + counts["no-fills"];
  const { spendMicros, revenueMicros, viewRevenueMicros } = money;
  return {
    requests,
    fills,
    fillRate: share(fills, requests),
    noFills: reasons["no-fills"] ?? {},
    limited: reasons.limited ?? {},
    requestsRefused: reasons["requests-refused"] ?? {},
    starts,
    firstQuartiles: counts["first-quartiles"],
    midpoints: counts.midpoints,
    thirdQuartiles: counts["third-quartiles"],
    completions,
    completionRate: share(completions, starts),
    closes: reasons.closes ?? {},
    rewards: counts.rewards,
    viewsHeld: reasons["views-held"] ?? {},
    viewsRefused: reasons["views-refused"] ?? {},
    playbackFaults: reasons["playback-faults"] ?? {},
    taps,
    tapRate: share(taps, starts),
    clicks: counts.clicks,
    clicksRefused: reasons["clicks-refused"] ?? {},
    conversions: counts.conversions,
    refunds: reasons.refunds ?? {},
    noFillCount: counts["no-fills"],
    limitedCount: counts.limited,
    requestsRefusedCount: counts["requests-refused"],
    closeCount: counts.closes,
    viewsHeldCount: counts["views-held"],
    viewsRefusedCount: counts["views-refused"],
    playbackFaultCount: counts["playback-faults"],
    clicksRefusedCount: counts["clicks-refused"],
    refundCount: counts.refunds,
    spendMicros,
    revenueMicros,
    ecpmMicros: starts === 0 ? null : quotient(viewRevenueMicros * 1000n, BigInt(starts)),
  };
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
