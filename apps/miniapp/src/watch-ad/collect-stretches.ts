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
 * - `changed`: it runs on, but from here on seen or heard differently;
 * - `stopped`: it stopped at this position;
 * - `jumped`: the position is about to be another one without having been played up to.
 */
export type PlayerEvent =
  | { readonly type: "moved" | "changed" | "stopped"; readonly moment: PlayerMoment }
  | { readonly type: "jumped" };

export interface Collecting {
  readonly nextSequence: number;
  /** Where the running stretch began, and how far it has come. */
  readonly running: { readonly from: PlayerMoment; readonly to: PlayerMoment } | null;
}

const STRETCH_MS = 1000;
/** Timers of a busy device starve; what they then tell at once still goes out in pieces that the service accepts. */
const LONGEST_STRETCH_MS = 10_000;

/** Turns what a player does into the stretches it reports, about a second each and without holes between them. */
export function collectStretches(
  collecting: Collecting,
  event: PlayerEvent,
): { collecting: Collecting; reports: ProgressReport[] } {
  const { running, nextSequence } = collecting;
  if (event.type === "jumped") return finish(running?.from, running?.to, nextSequence, null);
  const { moment, type } = event;
  const isNewStart = !running || moment.positionMs < running.to.positionMs;
  if (isNewStart) {
    const next = type === "stopped" ? null : { from: moment, to: moment };
    return finish(running?.from, running?.to, nextSequence, next);
  }
  if (type === "stopped") return finish(running.from, moment, nextSequence, null);
  const isFull = moment.positionMs - running.from.positionMs >= STRETCH_MS;
  if (type === "changed" || isFull) return finish(running.from, moment, nextSequence, { from: moment, to: moment });
  return { collecting: { nextSequence, running: { from: running.from, to: moment } }, reports: [] };
}

function finish(
  from: PlayerMoment | undefined,
  to: PlayerMoment | undefined,
  nextSequence: number,
  running: Collecting["running"],
): { collecting: Collecting; reports: ProgressReport[] } {
  const reports = from && to ? reportsOf(from, to, nextSequence) : [];
  return { collecting: { nextSequence: nextSequence + reports.length, running }, reports };
}

function reportsOf(from: PlayerMoment, to: PlayerMoment, firstSequence: number): ProgressReport[] {
  const [start, end] = [Math.round(from.positionMs), Math.round(to.positionMs)];
  const count = Math.ceil((end - start) / LONGEST_STRETCH_MS);
  const frames = framesBetween(from, to);
  return Array.from({ length: count }, (_, index) => ({
    sequence: firstSequence + index,
    from_ms: start + index * LONGEST_STRETCH_MS,
    to_ms: Math.min(start + (index + 1) * LONGEST_STRETCH_MS, end),
    visible: from.isVisible,
    muted: from.isMuted,
    ...(frames !== undefined && { rendered_frames: Math.floor(frames / count) }),
  }));
}

/** Loading the media again starts the browser's count anew; then the stretch says nothing about frames. */
function framesBetween(from: PlayerMoment, to: PlayerMoment): number | undefined {
  if (from.renderedFrames === undefined || to.renderedFrames === undefined) return undefined;
  const frames = to.renderedFrames - from.renderedFrames;
  return frames < 0 ? undefined : frames;
}
