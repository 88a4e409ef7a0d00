import { isFrameInView } from "@intermission/ad-core/frame-in-view";
import type { ProgressReport } from "@intermission/ad-core/player-api";
import type { ReportRefusalReason } from "@intermission/ad-core/wire-fields";
import type { CountedRefusal } from "@intermission/operator-api/timeline";

/** From (inclusive) to (exclusive). */
export type Range = [from: number, to: number];

/** Adds a range to sorted, disjoint ranges. Ranges that touch or are at most `gap` apart are merged. */
function mergeRange(ranges: readonly Range[], added: Range, gap = 0): Range[] {
  const [from, to] = added;
  const before = ranges.filter((range) => range[1] + gap < from);
  const after = ranges.filter((range) => range[0] - gap > to);
  const touched = ranges.slice(before.length, ranges.length - after.length);
  const start = Math.min(from, touched[0]?.[0] ?? from);
  const end = Math.max(to, touched.at(-1)?.[1] ?? to);
  return [...before, [start, end], ...after];
}

export function totalLength(ranges: readonly Range[]): number {
  return ranges.reduce((sum, [from, to]) => sum + to - from, 0);
}

function includesPoint(ranges: readonly Range[], point: number): boolean {
  return ranges.some(([from, to]) => from <= point && point < to);
}

export type Milestone = "start" | "first-quartile" | "midpoint" | "third-quartile" | "complete";

/** How far a view has progressed. */
export interface Reached {
  isStarted: boolean;
  acceptedMs: number;
  /** To the end. */
  isComplete: boolean;
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

function milestonesOf({ isStarted, acceptedMs, isComplete }: Reached, durationMs: number): Milestone[] {
  const passed = quartiles.filter(([, share]) => isComplete || acceptedMs >= durationMs * share);
  return [
    ...(isStarted ? (["start"] as const) : []),
    ...passed.map(([milestone]) => milestone),
    ...(isComplete ? (["complete"] as const) : []),
  ];
}

/** What a view stores of its reports. */
export interface Progress {
  /** Accepted ranges of the video, in milliseconds. */
  covered: Range[];
  /** Sequence numbers that are settled, accepted or refused. */
  sequences: Range[];
  /** How many reports earned nothing, by reason. */
  refusals: Partial<Record<CountedRefusal, number>>;
}

export interface Playback {
  progress: Progress;
  durationMs: number;
  /** An interstitial is charged once so much of it counts; null: the whole video must. */
  chargedAfterMs: number | null;
  /** Real time counts from here: a bad network may hold back every call, also that of the start, until the view is over. */
  openedAt: Date;
  /** When the server learnt that playback began; nothing counts before a call has said so. */
  startedAt: Date | null;
  /** When the view was closed: time after that is not credited, except for {@link maxWaitMs}. */
  closedAt: Date | null;
  /** Its player is gone for good: what the time until the close does not allow is refused, since sending it again is futile. */
  isClosedForGood: boolean;
  firstSequence: number;
  /** Real time credited to this view. */
  clockMs: number;
  /** Real time before this moment counts for no report: it was credited to a view of the same viewer, this one or another. */
  creditedUntil: Date | null;
}

export interface AcceptedProgress {
  progress: Progress;
  acceptedMs: number;
  /** It has earned its event: watched to the end, or an interstitial for as long as it is charged for. */
  isWatched: boolean;
  acknowledged: number[];
  refused: { sequence: number; reason: ReportRefusalReason }[];
  tooEarly: { sequences: number[]; retryAfterMs: number } | undefined;
  /** The reports that this call settled, accepted or refused. */
  settled: ProgressReport[];
  /** How much of the video is claimed so far, including what is too early. */
  claimedMs: number;
  /** Reports that claim more than the clock allows yet, and the time until it allows all of them. */
  early: ProgressReport[];
  earlyMs: number;
  /** Whether the video would be watched if the early reports were accepted. */
  isClaimedWatched: boolean;
  clockMs: number;
  creditedUntil: Date | null;
}

/** For rounding, and for clocks of servers that differ. It never completes a view. */
export const SLACK_MS = 1000;
const MAX_REPORT_MS = 30_000;
/** Media clocks of webviews jitter: a gap this small counts as played. The server's clock still limits the sum. */
const JITTER_MS = 250;
const WATCHED_SHARE = 0.97;
const LAST_SECOND_MS = 1000;
/** Limits the last second to this share of the video: in a clip of two seconds it would be half. */
const LAST_SECOND_SHARE = 0.1;
/** The credited time that a view takes, also for a very short video. */
const MIN_VIEW_MS = 1000;
const MAX_WAIT_MS = 10_000;
/** An honest player's numbers form one range. Only a forger leaves hundreds of gaps; the lowest gaps then count as settled. */
const MAX_SEQUENCE_RANGES = 256;

/**
 * Evaluates reports as a set keyed by sequence: their order does not matter, repeats add nothing. Accepted progress never
 * exceeds the real time credited to this view (plus the slack). Each moment is credited to only one view of a viewer, and a
 * view is complete only if it fits the credited time without the slack.
 */
export function acceptProgress(playback: Playback, reports: readonly ProgressReport[], now: Date): AcceptedProgress {
  const { durationMs } = playback;
  const allowedMs = allowedClockMs(playback, now);
  const finallyAllowedMs = finalClockMs(playback);
  let { covered, sequences } = playback.progress;
  // With the ranges that are too early.
  let claimed = covered;
  const refusals = { ...playback.progress.refusals };
  const acknowledged: number[] = [];
  const refused: AcceptedProgress["refused"] = [];
  const early: ProgressReport[] = [];
  const settled: ProgressReport[] = [];

  for (const report of reports.toSorted((a, b) => a.sequence - b.sequence)) {
    const { sequence } = report;
    const isSettled = sequence < playback.firstSequence || includesPoint(sequences, sequence);
    if (!isSettled) {
      let reason = playback.startedAt ? refusalReason(report, durationMs) : "not-started";
      if (!reason) {
        const range = rangeOf(report, durationMs);
        const merged = mergeRange(covered, range, JITTER_MS);
        const mergedClaim = mergeRange(claimed, range, JITTER_MS);
        if (totalLength(merged) <= totalLength(covered) || neededClockMs(merged, playback) <= allowedMs) {
          covered = merged;
          claimed = mergedClaim;
        } else if (neededClockMs(mergedClaim, playback) <= finallyAllowedMs) {
          claimed = mergedClaim;
          early.push(report);
          continue;
        } else reason = "after-close";
      }
      if (reason) {
        refused.push({ sequence, reason });
        refusals[reason] = (refusals[reason] ?? 0) + 1;
      }
      sequences = boundSequences(mergeRange(sequences, [sequence, sequence + 1]));
      settled.push(report);
    }
    if (acknowledged.at(-1) !== sequence) acknowledged.push(sequence);
  }

  if (early.length > 0) refusals["too-early"] = (refusals["too-early"] ?? 0) + early.length;
  const acceptedMs = totalLength(covered);
  const earlyMs = early.length > 0 ? Math.max(1, Math.ceil(neededClockMs(claimed, playback) - allowedMs)) : 0;
  return {
    progress: { covered, sequences, refusals },
    acceptedMs,
    isWatched: hasEarned(covered, playback),
    acknowledged,
    refused,
    tooEarly: early.length > 0 ? waitFor(early, earlyMs) : undefined,
    settled,
    claimedMs: totalLength(claimed),
    early,
    earlyMs,
    isClaimedWatched: hasEarned(claimed, playback),
    ...creditTime(playback, acceptedMs, allowedMs),
  };
}

/** How long ranges of a call that closes the view may wait for the clock. */
export function maxWaitMs(durationMs: number): number {
  return Math.min(SLACK_MS, durationMs / 2);
}

/** Where playback resumes: the first position that was not accepted yet. */
export function resumePositionMs({ covered }: Progress): number {
  const first = covered[0];
  return first && first[0] === 0 ? first[1] : 0;
}

/** The lowest sequence number that no report has used yet. */
export function nextSequence({ sequences }: Progress): number {
  return sequences.at(-1)?.[1] ?? 0;
}

/** Real time this view may count: its credited time, plus the time since its opening credited to none of the viewer's views. */
function allowedClockMs(playback: Playback, now: Date): number {
  const { clockMs, startedAt, closedAt, durationMs } = playback;
  if (!startedAt) return Number.NEGATIVE_INFINITY;
  const untilMs = closedAt ? Math.min(now.getTime(), closedAt.getTime() + maxWaitMs(durationMs)) : now.getTime();
  return clockMs + untilMs - freeFromMs(playback, startedAt);
}

/** The most that it may ever count. */
function finalClockMs(playback: Playback): number {
  const { closedAt, durationMs, isClosedForGood } = playback;
  if (!closedAt || !isClosedForGood) return Number.POSITIVE_INFINITY;
  return allowedClockMs(playback, new Date(closedAt.getTime() + maxWaitMs(durationMs)));
}

/** An opening that a fast clock stored is not later than the start. */
function freeFromMs({ openedAt, creditedUntil }: Playback, startedAt: Date): number {
  return Math.max(Math.min(openedAt.getTime(), startedAt.getTime()), creditedUntil?.getTime() ?? 0);
}

/** The credited time that this coverage requires. */
function neededClockMs(covered: readonly Range[], { durationMs, chargedAfterMs }: Terms): number {
  const coveredMs = totalLength(covered);
  if (isComplete(covered, durationMs))
    return Math.min(coveredMs, Math.max(durationMs - lastMsOf(durationMs), MIN_VIEW_MS));
  // The slack charges no interstitial.
  const isCharged = chargedAfterMs !== null && coveredMs >= chargedAfterMs;
  return isCharged ? Math.max(coveredMs - SLACK_MS, chargedAfterMs) : coveredMs - SLACK_MS;
}

/** Credits uncredited time from its beginning, as much as the progress covers. */
function creditTime(playback: Playback, acceptedMs: number, allowedMs: number) {
  const { clockMs, startedAt, creditedUntil } = playback;
  const addedMs = Math.min(acceptedMs, allowedMs) - clockMs;
  if (!startedAt || addedMs <= 0) return { clockMs, creditedUntil };
  return { clockMs: clockMs + addedMs, creditedUntil: new Date(freeFromMs(playback, startedAt) + addedMs) };
}

function refusalReason(report: ProgressReport, durationMs: number): ReportRefusalReason | undefined {
  if (!report.visible) return "hidden";
  if (report.frame && !isFrameInView(report.frame)) return "not-in-view";
  if (report.to_ms <= report.from_ms) return "backwards";
  if (report.to_ms - report.from_ms > MAX_REPORT_MS) return "too-long";
  if (report.from_ms >= durationMs) return "beyond-the-end";
  return undefined;
}

/** Clipped to the video; its ends allow for jitter too. */
function rangeOf(report: ProgressReport, durationMs: number): Range {
  const from = report.from_ms <= JITTER_MS ? 0 : report.from_ms;
  const to = report.to_ms >= durationMs - JITTER_MS ? durationMs : report.to_ms;
  return [from, to];
}

type Terms = Pick<Playback, "durationMs" | "chargedAfterMs">;

function hasEarned(covered: readonly Range[], { durationMs, chargedAfterMs }: Terms): boolean {
  return isComplete(covered, durationMs) || (chargedAfterMs !== null && totalLength(covered) >= chargedAfterMs);
}

/** Whether the video was played to its end. */
export function isComplete(covered: readonly Range[], durationMs: number): boolean {
  const isAllButTheLastSecond = covered.some(([from, to]) => from === 0 && to >= durationMs - lastMsOf(durationMs));
  return isAllButTheLastSecond || totalLength(covered) >= durationMs * WATCHED_SHARE;
}

function lastMsOf(durationMs: number): number {
  return Math.min(LAST_SECOND_MS, durationMs * LAST_SECOND_SHARE);
}

function waitFor(early: { sequence: number }[], missingMs: number) {
  return {
    sequences: [...new Set(early.map(({ sequence }) => sequence))],
    retryAfterMs: Math.min(missingMs, MAX_WAIT_MS),
  };
}

function boundSequences(sequences: Range[]): Range[] {
  const [lowest, second, ...others] = sequences;
  if (!lowest || !second || sequences.length <= MAX_SEQUENCE_RANGES) return sequences;
  return [[lowest[0], second[1]], ...others];
}
