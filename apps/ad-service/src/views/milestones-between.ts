export type Milestone = "start" | "first-quartile" | "midpoint" | "third-quartile" | "complete";

/** How far a view has progressed. */
export interface Reached {
  isStarted: boolean;
  acceptedMs: number;
  isWatched: boolean;
}

const quartiles = [
  ["first-quartile", 0.25],
  ["midpoint", 0.5],
  ["third-quartile", 0.75],
] as const;

/** The milestones passed between two states, in order. Accepted progress never shrinks, so each is returned once per view. */
export function milestonesBetween(before: Reached, after: Reached, durationMs: number): Milestone[] {
  const reached = milestonesOf(before, durationMs);
  return milestonesOf(after, durationMs).filter((milestone) => !reached.includes(milestone));
}

function milestonesOf({ isStarted, acceptedMs, isWatched }: Reached, durationMs: number): Milestone[] {
  const passed = quartiles.filter(([, share]) => isWatched || acceptedMs >= durationMs * share);
  return [
    ...(isStarted ? (["start"] as const) : []),
    ...passed.map(([milestone]) => milestone),
    ...(isWatched ? (["complete"] as const) : []),
  ];
}
