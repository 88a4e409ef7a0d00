import type { EventType } from "@intermission/ad-core/client-api";

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

/** What is counted: `stats_hours.measure`. */
export type Measure =
  | (typeof measureOfRequest)[RequestOutcome]
  | (typeof measureOfMilestone)[CountedMilestone]
  | (typeof measureOfEvent)[EventType]
  | "refunds"
  | "clicks-refused"
  | "taps"
  | "conversions";

/** SQL of the measure of a word. A word that the table lacks is null, which no sum accepts. */
export function measureOf(column: string, measures: Readonly<Record<string, Measure>>): string {
  const cases = Object.entries(measures).map(([word, measure]) => `when '${word}' then '${measure}'`);
  return `case ${column} ${cases.join(" ")} end as measure`;
}
