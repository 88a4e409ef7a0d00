import { open, readFile, stat } from "node:fs/promises";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { shellQuoted } from "./convert-video.ts";
import { type Ffmpeg, MAX_PIXELS_OF_PICTURE, runFfmpeg } from "./ffmpeg.ts";
import { asStored, MAX_UPLOADED_PICTURE_BYTES, uprightFilters } from "./fit-picture.ts";
import { animatedPicture, inspectPicture, tooManyPixels } from "./inspect-picture.ts";
import { pictureKindOf } from "./other-files.ts";
import type { Picture } from "./read-picture.ts";

/** Smaller ones are no advertisement but an icon, and a phone's screen shows them blurred. */
const MIN_SIDE = 200;
const MAX_SIDE = 1920;
const MAX_MS = 60_000;
/** Players count the frames that they show as the sign that a picture is there; more only take longer to encode. */
const FRAMES_PER_SECOND = 10;

export type StillVideo = { outcome: "made" } | { outcome: "refused"; faults: readonly FileFault[] };

/** Whether a file is a picture by its first bytes. */
export async function isPicture(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return pictureKindOf(buffer.subarray(0, bytesRead)) !== undefined;
  } finally {
    await file.close();
  }
}

/**
 * Makes a silent MP4 that shows a picture for some seconds: upright, on white where it is transparent, at most 1920 pixels
 * wide or high. So an advertiser without a video can buy what videos buy, by the same proof of viewing.
 */
export async function makeStillVideo(
  ffmpeg: Ffmpeg,
  { from, to, name, seconds }: { from: string; to: string; name: string; seconds: number },
): Promise<StillVideo> {
  if ((await stat(from)).size > MAX_UPLOADED_PICTURE_BYTES) {
    return refused(fileFault("FILE_TOO_LARGE", { max: `${MAX_UPLOADED_PICTURE_BYTES / 1024 / 1024} MiB` }));
  }
  const bytes = await readFile(from);
  const found = inspectPicture(bytes, { minSide: MIN_SIDE });
  if (found.outcome === "refused") return found;
  const { picture } = found;
  if (picture.isAnimated) return refused(animatedPicture(picture));
  if (picture.width * picture.height > MAX_PIXELS_OF_PICTURE)
    return refused(tooManyPixels(picture, MAX_PIXELS_OF_PICTURE));
  const work = {
    from,
    container: picture.extension,
    inputWords: asStored,
    outputs: [{ words: [...wordsFor(picture, seconds), "-f", "mp4"], to }],
    maxMs: MAX_MS,
  };
  const outcome = await runFfmpeg(ffmpeg, work);
  switch (outcome) {
    case "done":
      return { outcome: "made" };
    case "busy":
      return refused(fileFault("SERVER_BUSY"));
    case "too-long":
      return refused(fileFault("CONVERSION_TOO_LONG"), convertWith(picture, { name, seconds }));
    case "missing":
      return refused(fileFault("PICTURE_NEEDS_FFMPEG"), convertWith(picture, { name, seconds }));
    // A file that browsers can show, ffmpeg can read.
    case "failed":
      return refused(fileFault("PICTURE_UNREADABLE"));
    default:
      return outcome satisfies never;
  }
}

function refused(...faults: readonly FileFault[]): StillVideo {
  return { outcome: "refused", faults };
}

function wordsFor({ orientation }: Picture, seconds: number): string[] {
  const filters = [
    ...(uprightFilters[orientation] ?? []),
    `scale=min(${MAX_SIDE}\\,iw):min(${MAX_SIDE}\\,ih):force_original_aspect_ratio=decrease`,
    // H.264 halves the colours' resolution: both sides are even.
    "crop=trunc(iw/2)*2:trunc(ih/2)*2",
    "format=rgba,split[page][ad];[page]lutrgb=r=255:g=255:b=255:a=255[white];[white][ad]overlay=format=rgb",
    "setsar=1,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
    `tpad=stop_mode=clone:stop_duration=${seconds},fps=${FRAMES_PER_SECOND}`,
  ].join(",");
  // biome-ignore format: packed
  return [
    "-map_metadata", "-1", "-an", "-vf", filters, "-t", String(seconds),
    "-c:v", "libx264", "-profile:v", "main", "-preset", "veryfast", "-tune", "stillimage", "-crf", "20",
    "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-movflags", "+faststart",
  ];
}

/** For the owner of the file. */
function convertWith(picture: Picture, { name, seconds }: { name: string; seconds: number }): FileFault {
  const words = wordsFor(picture, seconds).map((word) => (/^[\w:+-]+$/.test(word) ? word : `"${word}"`));
  const video = `${name.replace(/\.[^./\\]*$/, "")}.mp4`;
  return fileFault("CONVERT_WITH", {
    command: ["ffmpeg", ...asStored, "-i", shellQuoted(name), ...words, shellQuoted(video)].join(" "),
  });
}
