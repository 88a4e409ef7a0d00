import type { Measure } from "./measures.ts";

/** A sum of one measure in `stats_hours`. */
export interface Sum {
  measure: Measure;
  reason: string;
  count: number;
  spendMicros: bigint;
  revenueMicros: bigint;
}

/** The figures of a period, a campaign, a bot or all. Counts are exact; shares are null where the divisor is zero. */
export interface Figures {
  requests: number;
  fills: number;
  fillRate: number | null;
  noFills: Record<string, number>;
  limited: Record<string, number>;
  requestsRefused: Record<string, number>;
  starts: number;
  firstQuartiles: number;
  midpoints: number;
  thirdQuartiles: number;
  completions: number;
  completionRate: number | null;
  closes: Record<string, number>;
  rewards: number;
  viewsHeld: Record<string, number>;
  viewsRefused: Record<string, number>;
  /** Views whose player gave up on the video. */
  playbackFaults: Record<string, number>;
  /** CTA clicks of views that began, the first of each; and their share of the starts. */
  taps: number;
  tapRate: number | null;
  clicks: number;
  clicksRefused: Record<string, number>;
  conversions: number;
  /** Refunded charges of views (`rewarded`) and clicks (`direct_link`): not part of spend, revenue and eCPM. */
  refunds: Record<string, number>;
  spendMicros: bigint;
  revenueMicros: bigint;
  /** The publisher's revenue from views per thousand views that began. */
  ecpmMicros: bigint | null;
}

export function figuresOf(sums: readonly Sum[]): Figures {
  const total = (measure: Measure) => addUp(sums.filter((sum) => sum.measure === measure));
  const byReason = (measure: Measure) => countsByReason(sums.filter((sum) => sum.measure === measure));
  const count = (measure: Measure) => total(measure).count;
  const fills = count("fills");
  const requests = fills + count("no-fills");
  const [starts, completions, taps, all] = [count("starts"), count("completions"), count("taps"), addUp(sums)];
  const refundsOfViews = addUp(sums.filter(({ measure, reason }) => measure === "refunds" && reason === "rewarded"));
  const revenueOfViews = total("rewards").revenueMicros + refundsOfViews.revenueMicros;
  return {
    requests,
    fills,
    fillRate: share(fills, requests),
    noFills: byReason("no-fills"),
    limited: byReason("limited"),
    requestsRefused: byReason("requests-refused"),
    starts,
    firstQuartiles: count("first-quartiles"),
    midpoints: count("midpoints"),
    thirdQuartiles: count("third-quartiles"),
    completions,
    completionRate: share(completions, starts),
    closes: byReason("closes"),
    rewards: count("rewards"),
    viewsHeld: byReason("views-held"),
    viewsRefused: byReason("views-refused"),
    playbackFaults: byReason("playback-faults"),
    taps,
    tapRate: share(taps, starts),
    clicks: count("clicks"),
    clicksRefused: byReason("clicks-refused"),
    conversions: count("conversions"),
    refunds: byReason("refunds"),
    spendMicros: all.spendMicros,
    revenueMicros: all.revenueMicros,
    ecpmMicros: starts === 0 ? null : rounded(revenueOfViews * 1000n, BigInt(starts)),
  };
}

function addUp(sums: readonly Sum[]): Pick<Sum, "count" | "spendMicros" | "revenueMicros"> {
  const nothing = { count: 0, spendMicros: 0n, revenueMicros: 0n };
  return sums.reduce((total, { count, spendMicros, revenueMicros }) => {
    return {
      count: total.count + count,
      spendMicros: total.spendMicros + spendMicros,
      revenueMicros: total.revenueMicros + revenueMicros,
    };
  }, nothing);
}

function countsByReason(sums: readonly Sum[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason, count } of sums) counts[reason] = (counts[reason] ?? 0) + count;
  return counts;
}

/** Halves are rounded up. */
function rounded(dividend: bigint, divisor: bigint): bigint {
  const doubled = 2n * dividend + divisor;
  const quotient = doubled / (2n * divisor);
  return doubled < 0n && doubled % (2n * divisor) !== 0n ? quotient - 1n : quotient;
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000;
}
