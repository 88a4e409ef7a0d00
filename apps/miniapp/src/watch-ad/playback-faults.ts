import type { PlaybackFault } from "@intermission/ad-core/wire-fields";

const DECODE = 3;
const SOURCE_NOT_SUPPORTED = 4;

/**
 * Why a video failed, as far as browsers report it. They use the same code for a missing file and an unreadable file; only
 * the message differs, and not for files of another host. No error means that playback timed out.
 */
export function describeFault(error: Pick<MediaError, "code" | "message"> | null): PlaybackFault {
  if (!error) return "timeout";
  if (error.code === DECODE) return "not-displayed";
  if (error.code !== SOURCE_NOT_SUPPORTED) return "other";
  return /DEMUXER|METADATA_ERR|DECODE/.test(error.message) ? "not-displayed" : "not-found";
}

/**
 * The service counts a view as watched at 97 % of the video, or at all but the last second (the last tenth of a short one):
 * a file that is shorter than that can never be watched.
 */
const MIN_SHARE = 0.97;
const LAST_SECOND_MS = 1000;
const LAST_SECOND_SHARE = 0.1;

/** Whether an ad's file is too short to be watched. An unknown length (`NaN`) is not. */
export function isTooShort(fileMs: number, declaredMs: number): boolean {
  const lastMs = Math.min(LAST_SECOND_MS, declaredMs * LAST_SECOND_SHARE);
  return fileMs < Math.min(declaredMs * MIN_SHARE, declaredMs - lastMs);
}

/** What a player knows of its picture while its media time moves. */
interface PictureFacts {
  /** Undefined if the browser decodes no picture of the file, such as HEVC, or a file of sound alone. */
  readonly picture: object | undefined;
  /** No frame was shown since the file was loaded, in a browser that reports frames. */
  readonly isFrameless: boolean;
  /** How far it has played since the browser last said that it plays. */
  readonly movedMs: number;
  readonly isAtEnd: boolean;
}

/** Some web views report the picture's size slightly after the start of the sound. */
const SIZE_WITHIN_MS = 500;
const FRAME_WITHIN_MS = 1000;

/** Whether a file plays without a picture, which fires no `error`. */
export function isPictureMissing({ picture, isFrameless, movedMs, isAtEnd }: PictureFacts): boolean {
  if (!picture) return isAtEnd || movedMs >= SIZE_WITHIN_MS;
  return isFrameless && movedMs >= FRAME_WITHIN_MS;
}

/**
 * What to do about a video that should be playing. A stalled download fires no `error`, so only the clock detects it.
 * `restart`: pause and play. WebKitGTK freezes a video that starts while the layout over it changes, as it does at each start.
 * `renew`: another element, since loading the same one did not help.
 */
export type Verdict = "fine" | "restart" | "reload" | "renew" | "give-up";

export interface Progress {
  /** The last position and the time since which it has not advanced. */
  readonly positionMs: number;
  readonly sinceMs: number;
  /** Recoveries without success, and the position and the time of the last one. */
  readonly recoveries: number;
  readonly recoveredFromMs: number;
  readonly recoveredAtMs: number;
}

/** A picture that stands still for so long is frozen: the ring stops, and the viewer is told. */
export const FROZEN_MS = 1200;
/** Some elements move for a moment after each recovery: that is no success. */
const SUCCESS_MS = 2000;

const STEPS = ["restart", "reload", "restart", "renew", "restart", "give-up"] as const satisfies Verdict[];
/** A browser that still loads may be on a slow network. */
const LOADING_MS = 7000;
/** One that has frames, or has stopped loading, has no reason to stand still. */
const STUCK_MS = 2000;
/** Before the viewer is told, which would change the layout over the video. */
const RESTART_MS = 600;

export function startProgress(positionMs: number, nowMs: number): Progress {
  return { positionMs, sinceMs: nowMs, recoveries: 0, recoveredFromMs: positionMs, recoveredAtMs: nowMs };
}

/** Called several times per second while the video should be playing. `nowMs` is a monotonic clock. */
export function checkProgress(
  progress: Progress,
  positionMs: number,
  nowMs: number,
  isLoading: boolean,
): { progress: Progress; verdict: Verdict } {
  const { recoveries, recoveredFromMs } = progress;
  // A recovery starts by going back; only moving forward counts as progress.
  if (positionMs > progress.positionMs) {
    const isSuccess = recoveries === 0 || positionMs - recoveredFromMs >= SUCCESS_MS;
    const moved = isSuccess ? startProgress(positionMs, nowMs) : { ...progress, positionMs, sinceMs: nowMs };
    return { progress: moved, verdict: "fine" };
  }
  // A video without data does not need a restart.
  const next = isLoading ? recoveries | 1 : recoveries;
  const step = STEPS[next];
  const waitMs = isLoading ? LOADING_MS : step === "restart" ? RESTART_MS : STUCK_MS;
  const waitedMs = nowMs - Math.max(progress.sinceMs, progress.recoveredAtMs);
  if (!step || waitedMs < waitMs) return { progress, verdict: "fine" };
  const recovered = { recoveries: next + 1, recoveredFromMs: progress.positionMs, recoveredAtMs: nowMs };
  return { progress: { ...progress, ...recovered }, verdict: step };
}
