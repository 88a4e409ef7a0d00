import type { ProgressReport, ReportRefusalReason } from "@intermission/ad-core/player-api";
import { includesPoint, joinRange, type Range, totalLength } from "./join-range.ts";

/** What a session keeps of its reports, as stored. */
export interface Progress {
  /** Accepted stretches of the video, in milliseconds. */
  covered: Range[];
  /** Sequence numbers that are settled, accepted or refused. */
  sequences: Range[];
  /** How many reports earned nothing, by reason. */
  refusals: Record<string, number>;
}

export interface Playback {
  progress: Progress;
  durationMs: number;
  /** The server's stamp of the first call of playback. */
  startedAt: Date | null;
  firstSequence: number;
}

export interface AcceptedProgress {
  progress: Progress;
  acceptedMs: number;
  isWatched: boolean;
  acknowledged: number[];
  refused: { sequence: number; reason: ReportRefusalReason }[];
  tooEarly: { sequences: number[]; retryAfterMs: number } | undefined;
  /** The reports that were settled by this call, accepted or refused. */
  settled: ProgressReport[];
  /** How much of the video is claimed by now, also what is too early. */
  claimedMs: number;
}

/** Between the server's stamp and the first frame, and for rounding. */
const SLACK_MS = 1000;
const LONGEST_REPORT_MS = 30_000;
/** Media clocks of webviews jitter: a hole this small between two stretches was played. The server's clock bounds the sum all the same. */
const JITTER_MS = 250;
const WATCHED_SHARE = 0.97;
const LAST_SECOND_MS = 1000;
/** Of a clip of two seconds the last one would be half. */
const LAST_SECOND_SHARE = 0.1;
const LONGEST_WAIT_MS = 10_000;
/** Of an honest player's numbers one range remains. Only a forger leaves hundreds of holes; they are then taken as settled. */
const MOST_SEQUENCE_RANGES = 256;

/**
 * What reports are worth. They are a set keyed by sequence: their order does not matter, repeats add nothing. Accepted
 * progress never exceeds the time that the server's own clock counted since the start.
 */
export function acceptProgress(playback: Playback, reports: readonly ProgressReport[], now: Date): AcceptedProgress {
  const budgetMs = clockBudgetMs(playback.startedAt, now);
  let { covered, sequences } = playback.progress;
  const refusals = { ...playback.progress.refusals };
  const acknowledged: number[] = [];
  const refused: AcceptedProgress["refused"] = [];
  const early: { sequence: number; stretch: Range }[] = [];
  const settled: ProgressReport[] = [];

  for (const report of reports.toSorted((a, b) => a.sequence - b.sequence)) {
    const { sequence } = report;
    const isSettled = sequence < playback.firstSequence || includesPoint(sequences, sequence);
    if (!isSettled) {
      const reason = refusalReason(report, playback);
      if (reason) {
        refused.push({ sequence, reason });
        refusals[reason] = (refusals[reason] ?? 0) + 1;
      } else {
        const stretch = stretchOf(report, playback.durationMs);
        const joined = joinRange(covered, stretch, JITTER_MS);
        if (totalLength(joined) > Math.max(budgetMs, totalLength(covered))) {
          early.push({ sequence, stretch });
          continue;
        }
        covered = joined;
      }
      sequences = boundSequences(joinRange(sequences, [sequence, sequence + 1]));
      settled.push(report);
    }
    if (acknowledged.at(-1) !== sequence) acknowledged.push(sequence);
  }

  if (early.length > 0) refusals["too-early"] = (refusals["too-early"] ?? 0) + early.length;
  const claimed = early.reduce((ranges, { stretch }) => joinRange(ranges, stretch, JITTER_MS), covered);
  const claimedMs = totalLength(claimed);
  return {
    progress: { covered, sequences, refusals },
    acceptedMs: totalLength(covered),
    isWatched: isWatched(covered, playback.durationMs),
    acknowledged,
    refused,
    tooEarly: early.length > 0 ? waitFor(early, claimedMs - budgetMs) : undefined,
    settled,
    claimedMs,
  };
}

/** Where playback goes on: the first position that was not accepted yet. */
export function resumePositionMs({ covered }: Progress): number {
  const first = covered[0];
  return first && first[0] === 0 ? first[1] : 0;
}

/** The lowest sequence number that no report has used yet. */
export function nextSequence({ sequences }: Progress): number {
  return sequences.at(-1)?.[1] ?? 0;
}

function clockBudgetMs(startedAt: Date | null, now: Date): number {
  if (!startedAt) return 0;
  return now.getTime() - startedAt.getTime() + SLACK_MS;
}

function refusalReason(report: ProgressReport, playback: Playback): ReportRefusalReason | undefined {
  if (!playback.startedAt) return "not-started";
  if (!report.visible) return "hidden";
  if (report.to_ms <= report.from_ms) return "backwards";
  if (report.to_ms - report.from_ms > LONGEST_REPORT_MS) return "too-long";
  if (report.from_ms >= playback.durationMs) return "beyond-the-end";
  return undefined;
}

/** Clipped to the video, whose ends are jittered too. */
function stretchOf(report: ProgressReport, durationMs: number): Range {
  const from = report.from_ms <= JITTER_MS ? 0 : report.from_ms;
  const to = report.to_ms >= durationMs - JITTER_MS ? durationMs : report.to_ms;
  return [from, to];
}

function isWatched(covered: readonly Range[], durationMs: number): boolean {
  const lastMs = Math.min(LAST_SECOND_MS, durationMs * LAST_SECOND_SHARE);
  const isAllButTheLastSecond = covered.some(([from, to]) => from === 0 && to >= durationMs - lastMs);
  return isAllButTheLastSecond || totalLength(covered) >= durationMs * WATCHED_SHARE;
}

function waitFor(early: { sequence: number }[], missingMs: number) {
  return {
    sequences: [...new Set(early.map(({ sequence }) => sequence))],
    retryAfterMs: Math.max(1, Math.min(missingMs, LONGEST_WAIT_MS)),
  };
}

function boundSequences(sequences: Range[]): Range[] {
  const [lowest, second, ...others] = sequences;
  if (!lowest || !second || sequences.length <= MOST_SEQUENCE_RANGES) return sequences;
  return [[lowest[0], second[1]], ...others];
}
