import type { Device } from "./describe-device.ts";

/** One of several files of the same video. */
export interface VideoFile {
  width: number;
  height: number;
  /** kbit/s; 0 if unknown. */
  bitrate: number;
}

/**
 * Chooses the best-looking file with no more pixels or bits than the device can use; if all have more, the smallest.
 * Among equal files it chooses the last, or the first of those that exceed what the device can use.
 */
export function chooseRendition<File extends VideoFile>(files: readonly File[], device: Device): File | undefined {
  const fitting = files.filter((file) => shorterSideOf(file) <= device.shorterSide && file.bitrate <= device.bitrate);
  const ranked = (fitting.length > 0 ? fitting : files).toSorted(
    (a, b) => shorterSideOf(a) - shorterSideOf(b) || a.bitrate - b.bitrate,
  );
  return fitting.length > 0 ? ranked.at(-1) : ranked[0];
}

/** The files that are lighter than the chosen one, the heaviest first: for a player whose playback stalls. */
export function lighterThan<File extends VideoFile>(chosen: VideoFile, files: readonly File[]): File[] {
  return files.filter((file) => file.bitrate < chosen.bitrate).toSorted((a, b) => b.bitrate - a.bitrate);
}

function shorterSideOf({ width, height }: VideoFile): number {
  return Math.min(width, height);
}
