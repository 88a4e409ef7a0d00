import type { ProgressReport } from "@intermission/ad-core/player-api";

/** What the player sees at one moment. */
export interface PlayerMoment {
  readonly positionMs: number;
  readonly isVisible: boolean;
  readonly isMuted: boolean;
  /** Video frames rendered since the media was loaded, where the browser tells. */
  readonly renderedFrames?: number | undefined;
}

/**
 * - `moved`: playback is running and has reached this position;
 * - `stopped`: it stopped at this position;
 * - `jumped`: the position is about to be another one without having been played up to.
 */
export type PlayerEvent =
  | { readonly type: "moved" | "stopped"; readonly moment: PlayerMoment }
  | { readonly type: "jumped" };

export interface Collecting {
  readonly durationMs: number;
  readonly nextSequence: number;
  /** Where the open range began, and how far it has come. */
  readonly open: { readonly from: PlayerMoment; readonly to: PlayerMoment } | null;
}

const LONGEST_STEP_MS = 5000;
/** Of a clip of three seconds the quartiles are not worth a call each. */
const SHORTEST_STEP_MS = 1000;
/** Timers of a busy device starve; what they then tell at once still goes out in pieces that the service accepts. */
const LONGEST_RANGE_MS = 10_000;

/**
 * Turns what a player does into the played ranges that it reports, without holes between them. A range ends where playback
 * stops, jumps, or is seen or heard differently, and where its report is due.
 */
export function collectRanges(
  collecting: Collecting,
  event: PlayerEvent,
): { collecting: Collecting; reports: ProgressReport[] } {
  const { open, durationMs } = collecting;
  if (event.type === "jumped") return finish(collecting, open?.to, null);
  const { moment, type } = event;
  const isNewStart = !open || moment.positionMs < open.to.positionMs;
  if (isNewStart) return finish(collecting, open?.to, type === "stopped" ? null : { from: moment, to: moment });
  if (type === "stopped") return finish(collecting, moment, null);
  const isDifferent = moment.isVisible !== open.from.isVisible || moment.isMuted !== open.from.isMuted;
  const isDue = moment.positionMs >= reportDueMs(open.from.positionMs, durationMs);
  if (isDifferent || isDue) return finish(collecting, moment, { from: moment, to: moment });
  return { collecting: { ...collecting, open: { from: open.from, to: moment } }, reports: [] };
}

/**
 * The position at which a range is reported, should nothing end it before: the next quartile, or the next of the equal
 * steps of at most 5 s between quartiles. A video of 30 s has eight: at 3.75 s, 7.5 s and so on up to its end.
 */
export function reportDueMs(fromMs: number, durationMs: number): number {
  const quarterMs = durationMs / 4;
  const stepMs = Math.max(SHORTEST_STEP_MS, quarterMs / Math.ceil(quarterMs / LONGEST_STEP_MS));
  return (Math.floor(fromMs / stepMs) + 1) * stepMs;
}

function finish(
  { open, nextSequence, durationMs }: Collecting,
  to: PlayerMoment | undefined,
  next: Collecting["open"],
): { collecting: Collecting; reports: ProgressReport[] } {
  const reports = open && to ? reportsOf(open.from, to, nextSequence) : [];
  return { collecting: { durationMs, nextSequence: nextSequence + reports.length, open: next }, reports };
}

function reportsOf(from: PlayerMoment, to: PlayerMoment, firstSequence: number): ProgressReport[] {
  const [start, end] = [Math.round(from.positionMs), Math.round(to.positionMs)];
  const count = Math.ceil((end - start) / LONGEST_RANGE_MS);
  const frames = framesBetween(from, to);
  return Array.from({ length: count }, (_, index) => ({
    sequence: firstSequence + index,
    from_ms: start + index * LONGEST_RANGE_MS,
    to_ms: Math.min(start + (index + 1) * LONGEST_RANGE_MS, end),
    visible: from.isVisible,
    muted: from.isMuted,
    ...(frames !== undefined && { rendered_frames: Math.floor(frames / count) }),
  }));
}

/** Loading the media again starts the browser's count anew; then the range says nothing about frames. */
function framesBetween(from: PlayerMoment, to: PlayerMoment): number | undefined {
  if (from.renderedFrames === undefined || to.renderedFrames === undefined) return undefined;
  const frames = to.renderedFrames - from.renderedFrames;
  return frames < 0 ? undefined : frames;
}
