import { readFile, writeFile } from "node:fs/promises";
import { type Ffmpeg, type FfmpegOutcome, runFfmpeg } from "./ffmpeg.ts";
import { inspectPicture } from "./inspect-picture.ts";
import type { PlayableVideo } from "./inspect-video.ts";
import { strippedPicture } from "./strip-picture.ts";

/** A poster competes with the first frame for a slow connection: WebP is half as large as JPEG. */
const formats = [
  { extension: "webp", words: ["-c:v", "libwebp", "-quality", "55", "-f", "webp"] },
  // For an ffmpeg that was built without WebP.
  { extension: "jpg", words: ["-q:v", "6", "-f", "mjpeg"] },
] as const;

const MAX_WIDTH = 720;

/** `fault` says why there is none; undefined if no ffmpeg is on the server. */
type MadePoster =
  | { outcome: "made"; path: string; extension: "webp" | "jpg" }
  | { outcome: "missing"; fault: string | undefined };

/**
 * Takes a picture of a video, one second into it, as it is shown, at most 720 pixels wide. ffmpeg succeeds with an empty file
 * where no frame follows, so each result is checked.
 */
export async function makePoster(
  { ffmpeg, pathOf }: { ffmpeg: Ffmpeg; pathOf: (name: string) => string },
  { path: from, video }: { path: string; video: PlayableVideo },
): Promise<MadePoster> {
  for (const inputWords of momentsOf(video)) {
    for (const { extension, words } of formats) {
      const path = pathOf(`poster.${extension}`);
      const output = ["-map", "0:V:0", "-frames:v", "1", "-vf", scaleOf(video), ...words];
      const work = { from, container: video.extension, inputWords, outputs: [{ words: output, to: path }] };
      const outcome = await runFfmpeg(ffmpeg, work);
      if (outcome !== "done" && outcome !== "failed") return { outcome: "missing", fault: faults[outcome] };
      if (outcome === "done" && (await isStrippedPicture(path))) return { outcome: "made", path, extension };
    }
  }
  return { outcome: "missing", fault: "ffmpeg found no picture in it" };
}

const faults: Record<Exclude<FfmpegOutcome, "done" | "failed">, string | undefined> = {
  missing: undefined,
  busy: "the server is busy with other videos",
  "too-long": "ffmpeg took too long",
};

/** ffmpeg takes the next frame after a moment: the frame that is shown at it may have begun before. */
function momentsOf({ durationMs, framesBySecond }: PlayableVideo): string[][] {
  const seconds = Math.min(1, durationMs / 3000);
  const soon = ["-ss", seconds.toFixed(3)];
  const isMoving = (framesBySecond[Math.floor(seconds)] ?? 0) > 1;
  return isMoving ? [soon, ["-ss", "0"], []] : [["-ss", "0"], [], soon];
}

/** Not by the file's own proportions: its pixels may not be square. */
function scaleOf({ width, height }: PlayableVideo): string {
  const scale = Math.min(1, MAX_WIDTH / width);
  return `scale=${Math.round(width * scale)}:${Math.max(1, Math.round(height * scale))},setsar=1`;
}

async function isStrippedPicture(path: string): Promise<boolean> {
  const bytes = await readFile(path);
  const found = inspectPicture(bytes);
  const stripped = found.outcome === "showable" ? strippedPicture(bytes, found.picture.extension) : undefined;
  if (stripped === undefined) return false;
  await writeFile(path, stripped);
  return true;
}
