import type { AnyEventType } from "@intermission/ad-core/event-words";
import type { reportFigures } from "@intermission/operator-api/report-figures";
import type { z } from "zod";

export type ReportFigures = z.output<typeof reportFigures>;

/** What became of a request for an ad: `ad_requests.outcome`. */
export type RequestOutcome = "filled" | "no-ad" | "limited" | "refused";

/** What a view passes, and how it ends: `ad_milestones.milestone`. */
export type CountedMilestone =
  | "start"
  | "first-quartile"
  | "midpoint"
  | "third-quartile"
  | "complete"
  | "close"
  | "held"
  | "refused"
  | "fault";

export const measureOfRequest = {
  filled: "fills",
  "no-ad": "no-fills",
  limited: "limited",
  refused: "requests-refused",
} as const satisfies Record<RequestOutcome, string>;

export const measureOfMilestone = {
  start: "starts",
  "first-quartile": "first-quartiles",
  midpoint: "midpoints",
  "third-quartile": "third-quartiles",
  complete: "completions",
  close: "closes",
  held: "views-held",
  refused: "views-refused",
  fault: "playback-faults",
} as const satisfies Record<CountedMilestone, string>;

/** An event that takes something back has no price, and its refund is counted. */
export const measureOfEvent = {
  rewarded: "rewards",
  direct_link: "clicks",
  interstitial: "interstitials",
  task: "tasks",
} as const satisfies Record<Exclude<AnyEventType, "task_reversed">, string>;

/** A column of the tables of sums (`sum-tables.ts`). */
export type Measure =
  | (typeof measureOfRequest)[RequestOutcome]
  | (typeof measureOfMilestone)[CountedMilestone]
  | (typeof measureOfEvent)[keyof typeof measureOfEvent]
  | "refunds"
  | "clicks-refused"
  | "taps"
  | "conversions";

interface MeasureRow {
  /** In the tables of sums. */
  column: string;
  /** The figure of reports that has its count. */
  figure: keyof ReportFigures;
  /** The figure that has its counts by reason; such a measure is also a word of the tables by reason. */
  reasons?: keyof ReportFigures;
  /** Its metric: a counter, and the value of the counter's label. */
  series: readonly [counter: string, value: string];
}

const requests = "intermission_ad_requests_total";
const views = "intermission_views_total";
const rewards = "intermission_rewards_total";
const clicks = "intermission_clicks_total";

/** All that is known of each measure. */
// biome-ignore format: packed
export const measureRows = {
  fills: { column: "fills", figure: "fills", series: [requests, "filled"] },
  "no-fills": { column: "no_fills", figure: "noFillCount", reasons: "noFills", series: [requests, "no-ad"] },
  limited: { column: "limited", figure: "limitedCount", reasons: "limited", series: [requests, "limited"] },
  "requests-refused": { column: "requests_refused", figure: "requestsRefusedCount", reasons: "requestsRefused", series: [requests, "refused"] },
  starts: { column: "starts", figure: "starts", series: [views, "start"] },
  "first-quartiles": { column: "first_quartiles", figure: "firstQuartiles", series: [views, "first-quartile"] },
  midpoints: { column: "midpoints", figure: "midpoints", series: [views, "midpoint"] },
  "third-quartiles": { column: "third_quartiles", figure: "thirdQuartiles", series: [views, "third-quartile"] },
  completions: { column: "completions", figure: "completions", series: [views, "complete"] },
  closes: { column: "closes", figure: "closeCount", reasons: "closes", series: [views, "close"] },
  "views-held": { column: "views_held", figure: "viewsHeldCount", reasons: "viewsHeld", series: [views, "held"] },
  "views-refused": { column: "views_refused", figure: "viewsRefusedCount", reasons: "viewsRefused", series: [views, "refused"] },
  "playback-faults": { column: "playback_faults", figure: "playbackFaultCount", reasons: "playbackFaults", series: ["intermission_playback_faults_total", "given-up"] },
  rewards: { column: "rewards", figure: "rewards", series: [rewards, "rewarded"] },
  clicks: { column: "clicks", figure: "clicks", series: [rewards, "direct_link"] },
  interstitials: { column: "interstitials", figure: "interstitials", series: [rewards, "interstitial"] },
  tasks: { column: "tasks", figure: "tasks", series: [rewards, "task"] },
  refunds: { column: "refunds", figure: "refundCount", reasons: "refunds", series: [rewards, "refund"] },
  "clicks-refused": { column: "clicks_refused", figure: "clicksRefusedCount", reasons: "clicksRefused", series: [clicks, "refused"] },
  taps: { column: "taps", figure: "taps", series: [clicks, "call-to-action"] },
  conversions: { column: "conversions", figure: "conversions", series: ["intermission_conversions_total", "reported"] },
} as const satisfies Record<Measure, MeasureRow>;

// Of this very table.
export const measures = Object.keys(measureRows) as Measure[];

/** The measures that are also counted by reason: `measure` of the tables by reason. */
export type ReasonedMeasure = {
  [One in Measure]: (typeof measureRows)[One] extends { reasons: string } ? One : never;
}[Measure];
export const reasonedMeasures = measures.filter(isReasoned);

export function isReasoned(measure: Measure): measure is ReasonedMeasure {
  return "reasons" in measureRows[measure];
}

/** The sums of money: what campaigns owe, the publishers' share of it, and the part of the share that views earned. */
export const moneyColumns = ["spend_micros", "revenue_micros", "view_revenue_micros"] as const;

/** SQL of the measure of a word. A word that the table lacks is null, which no sum accepts. */
function measureOf(column: string, words: Readonly<Record<string, Measure>>): string {
  const cases = Object.entries(words).map(([word, measure]) => `when '${word}' then '${measure}'`);
  return `case ${column} ${cases.join(" ")} end`;
}

/** One kind of raw row that the sums are computed from. */
export interface FactTable {
  readonly table: string;
  /** SQL of the measure and the reason of a row. */
  readonly measure: string;
  readonly reason?: string;
  /** SQL of a row's weight: 1, except for rows that reverse another one. */
  readonly amount?: string;
  /** SQL of the campaign's spend, the publisher's share, and the part of the share that views earned. */
  readonly money?: readonly [spend: string, revenue: string, viewRevenue: string];
}

const viewRevenue = "case when event in ('rewarded', 'interstitial') then revenue_micros else 0 end";

/** The rows from which measures are counted, by their name in `stats_progress`. Refused clicks: `fact-sources.ts`. */
export const factTables = {
  requests: { table: "ad_requests", measure: measureOf("outcome", measureOfRequest), reason: "reason" },
  milestones: { table: "ad_milestones", measure: measureOf("milestone", measureOfMilestone), reason: "reason" },
  events: {
    table: "events",
    measure: measureOf("event", measureOfEvent),
    money: ["price_micros", "revenue_micros", viewRevenue],
  },
  refunds: {
    table: "refunds",
    measure: "'refunds'",
    reason: "event",
    money: ["-price_micros", "-revenue_micros", `-(${viewRevenue})`],
  },
  "cta-clicks": { table: "cta_clicks", measure: "'taps'" },
  conversions: { table: "conversions", measure: "'conversions'" },
  reversals: { table: "conversion_reversals", measure: "'conversions'", amount: "-1" },
} as const satisfies Record<string, FactTable>;
