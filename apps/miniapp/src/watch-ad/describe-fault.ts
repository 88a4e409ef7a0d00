import type { PlaybackFault } from "@intermission/ad-core/player-api";

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
