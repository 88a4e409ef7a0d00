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
export interface PictureFacts {
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

/** What to do about a video that should be playing. A stalled download fires no `error`, so only the clock detects it. */
export type Verdict = "fine" | "reload" | "give-up";

export interface Progress {
  /** The last position and the time since which it has not advanced. */
  readonly positionMs: number;
  readonly sinceMs: number;
  readonly hasReloaded: boolean;
}

const RELOAD_AFTER_MS = 8000;
const GIVE_UP_AFTER_MS = 20_000;

export function startProgress(positionMs: number, nowMs: number): Progress {
  return { positionMs, sinceMs: nowMs, hasReloaded: false };
}

/** Called several times per second while the video should be playing. `nowMs` is a monotonic clock. */
export function checkProgress(
  progress: Progress,
  positionMs: number,
  nowMs: number,
): { progress: Progress; verdict: Verdict } {
  // A reload starts by going back; only moving forward counts as progress.
  if (positionMs > progress.positionMs) return { progress: startProgress(positionMs, nowMs), verdict: "fine" };
  const stalledMs = nowMs - progress.sinceMs;
  if (stalledMs >= GIVE_UP_AFTER_MS) return { progress, verdict: "give-up" };
  if (stalledMs >= RELOAD_AFTER_MS && !progress.hasReloaded) {
    return { progress: { ...progress, hasReloaded: true }, verdict: "reload" };
  }
  return { progress, verdict: "fine" };
}
