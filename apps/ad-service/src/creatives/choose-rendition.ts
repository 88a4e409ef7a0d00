import type { Device } from "./describe-device.ts";

/** One of several files of the same video. */
export interface VideoFile {
  width: number;
  height: number;
  /** kbit/s; 0 where nobody says. */
  bitrate: number;
}

/**
 * The file that looks best without more pixels or bits than the device has use for; if all have more, the smallest. Of
 * equals the last, or of those that are too much the first.
 */
export function chooseRendition<File extends VideoFile>(files: readonly File[], device: Device): File | undefined {
  const fitting = files.filter((file) => shorterSideOf(file) <= device.shorterSide && file.bitrate <= device.bitrate);
  const ranked = (fitting.length > 0 ? fitting : files).toSorted(
    (a, b) => shorterSideOf(a) - shorterSideOf(b) || a.bitrate - b.bitrate,
  );
  return fitting.length > 0 ? ranked.at(-1) : ranked[0];
}

/** Those that are easier to load than the one that was chosen, the heaviest first: for a player whose playback stalls. */
export function lighterThan<File extends VideoFile>(chosen: VideoFile, files: readonly File[]): File[] {
  return files.filter((file) => file.bitrate < chosen.bitrate).toSorted((a, b) => b.bitrate - a.bitrate);
}

function shorterSideOf({ width, height }: VideoFile): number {
  return Math.min(width, height);
}
