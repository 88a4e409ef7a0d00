import { stat } from "node:fs/promises";
import { type Container, runFfmpeg } from "./ffmpeg.ts";
import { inspectVideo, type PlayableVideo } from "./inspect-video.ts";

/** A poster competes with the first frame for a slow connection: WebP is half as large as JPEG. */
const posterFormats = [
  { extension: "webp", words: ["-c:v", "libwebp", "-quality", "55", "-f", "webp"] },
  // For an ffmpeg that was built without WebP.
  { extension: "jpg", words: ["-q:v", "6", "-f", "mjpeg"] },
] as const;

/**
 * Takes a picture of a video, one second into it, at most 720 pixels wide, and returns its path and format. Undefined if
 * ffmpeg is missing or failed.
 */
export async function makePoster(picture: {
  ffmpeg: string;
  from: string;
  container: Container;
  durationMs: number;
  pathOf: (name: string) => string;
}): Promise<{ path: string; extension: "webp" | "jpg" } | undefined> {
  const { ffmpeg, from, container, durationMs, pathOf } = picture;
  const seekSeconds = Math.min(1, durationMs / 3000).toFixed(3);
  for (const { extension, words: format } of posterFormats) {
    const words = ["-map", "0:v:0", "-frames:v", "1", "-vf", "scale='min(720,iw)':-2", ...format];
    const path = pathOf(`poster.${extension}`);
    const made = await runFfmpeg(ffmpeg, { from, container, seekSeconds, outputs: [{ words, to: path }] });
    if (made === "done") return { path, extension };
    if (made !== "failed") return undefined;
  }
  return undefined;
}

/** A lighter file before it is stored. */
export interface MadeRendition {
  path: string;
  video: PlayableVideo;
  byteLength: number;
}

export interface MadeRenditions {
  renditions: MadeRendition[];
  /** Why there are fewer files than this video needs. */
  fault?: string;
}

/** The largest shorter side; the most that picture and sound take, in kbit/s. */
const rungs = [
  { shorterSide: 480, picture: 900, sound: 96 },
  { shorterSide: 360, picture: 400, sound: 64 },
] as const;
/** A file that saves less is not worth storing. */
const LARGEST_SHARE = 0.8;
/** Playback is counted in the original's time, so a report may be off by this much. */
const LARGEST_DRIFT_MS = 250;
/** For all files together; the person who adds the video waits for them. */
const LONGEST_MS = 120_000;

/** Makes lighter files of a video, for slow connections and small screens; none if the video is as light already. */
export async function makeRenditions(
  { ffmpeg, longestMs = LONGEST_MS }: { ffmpeg: string; longestMs?: number | undefined },
  { path, video, pathOf }: { path: string; video: PlayableVideo; pathOf: (name: string) => string },
): Promise<MadeRenditions> {
  const { size } = await stat(path);
  const bitrate = (size * 8) / video.durationMs;
  const wanted = rungs
    .filter(({ picture, sound }) => (picture + sound) / bitrate <= LARGEST_SHARE)
    .map((rung) => ({ ...rung, path: pathOf(`${rung.shorterSide}p.mp4`) }));
  if (wanted.length === 0) return { renditions: [] };
  const outputs = wanted.map((rung) => ({ words: wordsOf(rung, video), to: rung.path }));
  const made = await runFfmpeg(ffmpeg, { from: path, container: video.extension, outputs, longestMs });
  if (made === "done") return judge(wanted, { size, video });
  const faults: Record<typeof made, string> = {
    missing: "ffmpeg is not on the server",
    failed: "ffmpeg failed",
    busy: "the server is busy with other videos",
    "too-long": `ffmpeg took longer than ${longestMs / 1000} s`,
  };
  return { renditions: [], fault: faults[made] };
}

async function judge(
  made: readonly { path: string }[],
  original: { size: number; video: PlayableVideo },
): Promise<MadeRenditions> {
  const renditions: MadeRendition[] = [];
  let most = original.size * LARGEST_SHARE;
  for (const { path } of made) {
    const video = await inspectVideo(path);
    const { size } = await stat(path);
    if (video.outcome !== "playable" || Math.abs(video.durationMs - original.video.durationMs) > LARGEST_DRIFT_MS) {
      return { renditions, fault: "what ffmpeg made of it is not the same video" };
    }
    if (size > most) continue;
    renditions.push({ path, video, byteLength: size });
    most = size * LARGEST_SHARE;
  }
  return { renditions };
}

/**
 * Encoding speed matters more than size, since an upload waits for it. The rate is capped, since peaks stall playback.
 */
function wordsOf({ shorterSide, picture, sound }: (typeof rungs)[number], { width, height }: PlayableVideo) {
  const side = Math.min(shorterSide, width, height);
  return [
    ...["-map", "0:v:0", "-map", "0:a:0?", "-map_metadata", "-1"],
    ...["-vf", width < height ? `scale=${even(side)}:-2` : `scale=-2:${even(side)}`],
    ...["-c:v", "libx264", "-preset", "veryfast", "-profile:v", "main", "-pix_fmt", "yuv420p"],
    ...["-crf", "26", "-maxrate", `${picture}k`, "-bufsize", `${2 * picture}k`],
    ...["-c:a", "aac", "-b:a", `${sound}k`, "-ac", "2", "-movflags", "+faststart", "-f", "mp4"],
  ];
}

function even(side: number): number {
  return side - (side % 2);
}
