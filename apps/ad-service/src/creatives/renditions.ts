import { stat } from "node:fs/promises";
import { type Ffmpeg, runFfmpeg } from "./ffmpeg.ts";
import { inspectVideo, type PlayableVideo } from "./inspect-video.ts";
import { isFile } from "./media-storage.ts";
import { stripVideo } from "./strip-video.ts";

/** A lighter file before it is stored. */
export interface MadeRendition {
  path: string;
  video: PlayableVideo;
  byteLength: number;
}

interface MadeRenditions {
  renditions: MadeRendition[];
  /** Why there are fewer files than this video needs. */
  fault?: string;
}

/** The largest shorter side; the most that picture and sound take, in kbit/s. */
const rungs = [
  { shorterSide: 480, picture: 900, sound: 96 },
  { shorterSide: 360, picture: 400, sound: 64 },
] as const;
const fileOf = ({ shorterSide }: { shorterSide: number }) => `${shorterSide}p.mp4`;
export const renditionFiles: readonly string[] = rungs.map(fileOf);
/** A file that saves less is not worth storing. */
const MAX_SHARE = 0.8;
/** Playback is counted in the original's time, so a report may be off by this much. */
const MAX_DRIFT_MS = 250;
/** For all files together; the person who adds the video waits for them. */
const MAX_MS = 120_000;

/** Makes lighter files of a video, for slow connections and small screens; none if the video is as light already. */
export async function makeRenditions(
  { ffmpeg, maxMs = MAX_MS }: { ffmpeg: Ffmpeg; maxMs?: number | undefined },
  { path, video, pathOf }: { path: string; video: PlayableVideo; pathOf: (name: string) => string },
): Promise<MadeRenditions> {
  const { size } = await stat(path);
  const bitrate = (size * 8) / video.durationMs;
  const selected = rungs
    .filter(({ picture, sound }) => (picture + sound) / bitrate <= MAX_SHARE)
    .map((rung) => ({ ...rung, path: pathOf(fileOf(rung)) }));
  if (selected.length === 0) return { renditions: [] };
  const outputs = selected.map((rung) => ({ words: wordsOf(rung, video), to: rung.path }));
  // Of an upload that is repeated, they may have been made before.
  const areMade = (await Promise.all(selected.map((rung) => isFile(rung.path)))).every(Boolean);
  const work = { from: path, container: video.extension, outputs, maxMs };
  const made = areMade ? "done" : await runFfmpeg(ffmpeg, work);
  if (made === "done") return judge(selected, { size, video });
  const faults: Record<typeof made, string> = {
    missing: "ffmpeg is not on the server",
    failed: "ffmpeg failed",
    busy: "the server is busy with other videos",
    "too-long": `ffmpeg took longer than ${maxMs / 1000} s`,
  };
  return { renditions: [], fault: faults[made] };
}

async function judge(
  made: readonly { path: string }[],
  original: { size: number; video: PlayableVideo },
): Promise<MadeRenditions> {
  const renditions: MadeRendition[] = [];
  let maxSize = original.size * MAX_SHARE;
  for (const { path } of made) {
    const video = await inspectVideo(path);
    const isStripped = video.outcome === "playable" && (await stripVideo(path, video.extension)) === undefined;
    const { size } = await stat(path);
    if (
      video.outcome !== "playable" ||
      !isStripped ||
      Math.abs(video.durationMs - original.video.durationMs) > MAX_DRIFT_MS
    ) {
      return { renditions, fault: "what ffmpeg made of it is not the same video" };
    }
    if (size > maxSize) continue;
    renditions.push({ path, video, byteLength: size });
    maxSize = size * MAX_SHARE;
  }
  return { renditions };
}

/**
 * Encoding speed matters more than size, since an upload waits for it. The rate is capped, since peaks stall playback.
 */
function wordsOf({ shorterSide, picture, sound }: (typeof rungs)[number], { width, height }: PlayableVideo) {
  const scale = Math.min(shorterSide, width, height) / Math.min(width, height);
  // biome-ignore format: packed
  return [
    "-map", "0:V:0", "-map", "0:a:0?", "-map_metadata", "-1", "-map_chapters", "-1",
    "-vf", `scale=${even(width * scale)}:${even(height * scale)},setsar=1`,
    "-c:v", "libx264", "-preset", "veryfast", "-profile:v", "main", "-pix_fmt", "yuv420p",
    "-crf", "26", "-maxrate", `${picture}k`, "-bufsize", `${2 * picture}k`,
    "-c:a", "aac", "-b:a", `${sound}k`, "-ac", "2", "-movflags", "+faststart", "-f", "mp4",
  ];
}

function even(side: number): number {
  return Math.max(2, 2 * Math.round(side / 2));
}
