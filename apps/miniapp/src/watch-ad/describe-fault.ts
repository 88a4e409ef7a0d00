import type { PlaybackFault } from "@intermission/ad-core/player-api";

const DECODE = 3;
const SOURCE_NOT_SUPPORTED = 4;

/**
 * Why a video is given up, as far as browsers tell. They say the same of a file that is not there and of one that they
 * cannot read; only the words beside it differ, and not those of another host's file. Without an error it did not go on
 * in time.
 */
export function describeFault(error: Pick<MediaError, "code" | "message"> | null): PlaybackFault {
  if (!error) return "timeout";
  if (error.code === DECODE) return "not-displayed";
  if (error.code !== SOURCE_NOT_SUPPORTED) return "other";
  return /DEMUXER|METADATA_ERR|DECODE/.test(error.message) ? "not-displayed" : "not-found";
}
