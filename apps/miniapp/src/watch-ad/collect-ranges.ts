import { isFrameInView } from "@intermission/ad-core/frame-in-view";
import type { ProgressReport } from "@intermission/ad-core/player-api";
import { reportDueMs } from "@intermission/ad-core/report-steps";

/** The player's state at one moment. */
export interface PlayerMoment {
  readonly positionMs: number;
  readonly isVisible: boolean;
  readonly isMuted: boolean;
  /** Video frames rendered since the media was loaded, if the browser reports them. */
  readonly renderedFrames?: number | undefined;
  /** Of an app in a frame: what of it can be seen. */
  readonly frame?: ProgressReport["frame"];
}

/**
 * - `moved`: playback is running and has reached this position;
 * - `stopped`: it stopped at this position;
 * - `jumped`: the position is about to change without playback.
 */
export type PlayerEvent =
  | { readonly type: "moved" | "stopped"; readonly moment: PlayerMoment }
  | { readonly type: "jumped" };

type RangeEvent = NonNullable<ProgressReport["events"]>[number];

export interface Collecting {
  readonly durationMs: number;
  readonly nextSequence: number;
  /** How many of the frames rendered since the media was loaded are in reports; none by default. */
  readonly reportedFrames?: number | undefined;
  /** The start of the open range and its current end. */
  readonly open: { readonly from: PlayerMoment; readonly to: PlayerMoment } | null;
  /** The viewer has paused: the next range is played after that. */
  readonly isPaused?: boolean;
}

/** A busy device delays timers; the resulting long range is split into ranges that the service accepts. */
const MAX_RANGE_MS = 10_000;

/**
 * Converts player events into the played ranges to report, without gaps between them. A range ends where playback stops or
 * jumps, where visibility or sound changes, and where its report is due.
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
  if (type === "stopped") return finish(collecting, moment, null, ["pause"]);
  const isSwitched = moment.isMuted !== open.from.isMuted;
  let isDifferent = moment.isVisible !== open.from.isVisible || isSwitched;
  if (import.meta.env.IN_APP) isDifferent ||= isFrameChanged(open.from, moment);
  const isDue = moment.positionMs >= reportDueMs(open.from.positionMs, durationMs);
  const events: RangeEvent[] = isSwitched ? [moment.isMuted ? "mute" : "unmute"] : [];
  if (isDifferent || isDue) return finish(collecting, moment, { from: moment, to: moment }, events);
  return { collecting: { ...collecting, open: { from: open.from, to: moment } }, reports: [] };
}

function finish(
  { open, nextSequence, durationMs, reportedFrames, isPaused }: Collecting,
  to: PlayerMoment | undefined,
  next: Collecting["open"],
  events: RangeEvent[] = [],
): { collecting: Collecting; reports: ProgressReport[] } {
  const reports = open && to ? reportsOf(open.from, to, nextSequence, reportedFrames) : [];
  const [first] = reports;
  if (isPaused) events = ["resume", ...events];
  if (first && events.length > 0) first.events = events;
  return {
    collecting: {
      durationMs,
      reportedFrames: reports[0] ? to?.renderedFrames : reportedFrames,
      nextSequence: nextSequence + reports.length,
      open: next,
      ...((first ? events.includes("pause") : isPaused) && { isPaused: true }),
    },
    reports,
  };
}

/**
 * Each frame is in one report. Those that browsers render before playback, four or more, are in the first: a video of few
 * frames renders no other. Loading the media again restarts the browser's count.
 */
function reportsOf(from: PlayerMoment, to: PlayerMoment, firstSequence: number, reportedFrames = 0): ProgressReport[] {
  const start = Math.round(from.positionMs);
  const end = Math.round(to.positionMs);
  const rendered = to.renderedFrames;
  const count = Math.ceil((end - start) / MAX_RANGE_MS);
  return Array.from({ length: count }, (_, index) => ({
    sequence: firstSequence + index,
    from_ms: start + index * MAX_RANGE_MS,
    to_ms: Math.min(start + (index + 1) * MAX_RANGE_MS, end),
    visible: from.isVisible,
    muted: from.isMuted,
    ...(import.meta.env.IN_APP && from.frame && { frame: from.frame }),
    // Rounded up: a part of a range with few frames would otherwise seem to have none.
    ...(rendered !== undefined && {
      rendered_frames: Math.ceil((rendered < reportedFrames ? rendered : rendered - reportedFrames) / count),
    }),
  }));
}

/** Too little of the frame is in view, or enough again; or something began or ceased to cover it. */
function isFrameChanged({ frame: before }: PlayerMoment, { frame: now }: PlayerMoment): boolean {
  return before && now
    ? before.covered !== now.covered || isFrameInView(before) !== isFrameInView(now)
    : before !== now;
}
