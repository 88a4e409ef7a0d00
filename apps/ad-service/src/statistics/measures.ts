import type { EventType } from "@intermission/ad-core/wire-fields";

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

export const measureOfEvent = { rewarded: "rewards", direct_link: "clicks" } as const satisfies Record<
  EventType,
  string
>;

/** A column of the tables of sums (`sum-tables.ts`). */
export type Measure =
  | (typeof measureOfRequest)[RequestOutcome]
  | (typeof measureOfMilestone)[CountedMilestone]
  | (typeof measureOfEvent)[EventType]
  | "refunds"
  | "clicks-refused"
  | "taps"
  | "conversions";

/** The column of each measure. */
export const measureColumns = {
  fills: "fills",
  "no-fills": "no_fills",
  limited: "limited",
  "requests-refused": "requests_refused",
  starts: "starts",
  "first-quartiles": "first_quartiles",
  midpoints: "midpoints",
  "third-quartiles": "third_quartiles",
  completions: "completions",
  closes: "closes",
  "views-held": "views_held",
  "views-refused": "views_refused",
  "playback-faults": "playback_faults",
  rewards: "rewards",
  clicks: "clicks",
  refunds: "refunds",
  "clicks-refused": "clicks_refused",
  taps: "taps",
  conversions: "conversions",
} as const satisfies Record<Measure, string>;

export const measures = Object.keys(measureColumns) as Measure[];

/** The measures that are also counted by reason: `measure` of the tables by reason. */
export const reasonedMeasures = [
  "no-fills",
  "limited",
  "requests-refused",
  "closes",
  "views-held",
  "views-refused",
  "playback-faults",
  "refunds",
  "clicks-refused",
] as const satisfies readonly Measure[];
export type ReasonedMeasure = (typeof reasonedMeasures)[number];

/** The sums of money: what campaigns owe, the publishers' share of it, and the part of the share that views earned. */
export const moneyColumns = ["spend_micros", "revenue_micros", "view_revenue_micros"] as const;

/** The metric of each measure: a counter, and the value of its label. */
export const seriesOfMeasures = {
  fills: ["intermission_ad_requests_total", "filled"],
  "no-fills": ["intermission_ad_requests_total", "no-ad"],
  limited: ["intermission_ad_requests_total", "limited"],
  "requests-refused": ["intermission_ad_requests_total", "refused"],
  starts: ["intermission_views_total", "start"],
  "first-quartiles": ["intermission_views_total", "first-quartile"],
  midpoints: ["intermission_views_total", "midpoint"],
  "third-quartiles": ["intermission_views_total", "third-quartile"],
  completions: ["intermission_views_total", "complete"],
  closes: ["intermission_views_total", "close"],
  "views-held": ["intermission_views_total", "held"],
  "views-refused": ["intermission_views_total", "refused"],
  "playback-faults": ["intermission_playback_faults_total", "given-up"],
  rewards: ["intermission_rewards_total", "rewarded"],
  clicks: ["intermission_rewards_total", "direct_link"],
  refunds: ["intermission_rewards_total", "refund"],
  "clicks-refused": ["intermission_clicks_total", "refused"],
  taps: ["intermission_clicks_total", "call-to-action"],
  conversions: ["intermission_conversions_total", "reported"],
} as const satisfies Record<Measure, readonly [string, string]>;

/** SQL of the measure of a word. A word that the table lacks is null, which no sum accepts. */
export function measureOf(column: string, words: Readonly<Record<string, Measure>>): string {
  const cases = Object.entries(words).map(([word, measure]) => `when '${word}' then '${measure}'`);
  return `case ${column} ${cases.join(" ")} end`;
}
