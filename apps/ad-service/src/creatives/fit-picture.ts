import { readFile, writeFile } from "node:fs/promises";
import type { PictureOfBot } from "@intermission/operator-api/bots";
import { type FileFault, fileFault } from "@intermission/operator-api/file-faults";
import { shellQuoted } from "./convert-video.ts";
import { type Ffmpeg, type FfmpegOutcome, MAX_PIXELS_OF_PICTURE, runFfmpeg } from "./ffmpeg.ts";
import { animatedPicture, type InspectedPicture, inspectPicture, tooManyPixels } from "./inspect-picture.ts";
import type { MediaStorage } from "./media-storage.ts";
import type { Picture } from "./read-picture.ts";
import { strippedPicture } from "./strip-picture.ts";

/** A phone's photo, before it is made smaller. */
export const MAX_UPLOADED_PICTURE_BYTES = 24 * 1024 * 1024;
const MAX_MS = 30_000;
/** Above a phone's usual photo of 12 megapixels, and read within a second. */
const MAX_PIXELS_OF_SQUARE = 25_000_000;

/** What an uploaded picture is for: a video's poster, a bot's picture, or the icon of a bot's unit. */
export type PictureUse = "poster" | PictureOfBot;

interface UseRules {
  /** The least side of an upload. */
  minSide: number;
  /** A picture with more pixels is refused unread. */
  maxPixels: number;
  /** ffmpeg's filters after those that turn the picture upright. */
  filters: readonly string[];
  /** Encodings in the order of preference; the second is for an ffmpeg that was built without WebP. */
  formats: readonly { extension: Picture["extension"]; words: readonly string[] }[];
  /** A small square of at most this side, encoded again. Undefined: of any shape, and stored as it is where every screen shows it. */
  squareSide?: number;
}

const webp = { extension: "webp", words: ["-c:v", "libwebp", "-quality", "80", "-f", "webp"] } as const;
const png = { extension: "png", words: ["-c:v", "png", "-f", "image2"] } as const;
const jpeg = { extension: "jpg", words: ["-q:v", "4", "-f", "mjpeg"] } as const;

const BOT_SIDE = 192;
const UNIT_SIDE = 96;

const fitted = (side: number) => `scale=min(${side}\\,iw):min(${side}\\,ih):force_original_aspect_ratio=decrease`;

const rulesOf: Record<PictureUse, UseRules> = {
  poster: { minSide: 16, maxPixels: MAX_PIXELS_OF_PICTURE, filters: [fitted(1920)], formats: [webp, jpeg] },
  // Cropped to the centre, because messengers show it as a circle.
  bot: {
    minSide: 64,
    maxPixels: MAX_PIXELS_OF_SQUARE,
    filters: [`scale=${BOT_SIDE}:${BOT_SIDE}:force_original_aspect_ratio=increase`, `crop=${BOT_SIDE}:${BOT_SIDE}`],
    formats: [webp, png],
    squareSide: BOT_SIDE,
  },
  // The whole of it, with transparent edges: a coin or a star that is cut is not recognised.
  unit: {
    minSide: 32,
    maxPixels: MAX_PIXELS_OF_SQUARE,
    filters: [
      "format=rgba",
      `scale=${UNIT_SIDE}:${UNIT_SIDE}:force_original_aspect_ratio=decrease`,
      `pad=${UNIT_SIDE}:${UNIT_SIDE}:-1:-1:color=black@0`,
    ],
    formats: [webp, png],
    squareSide: UNIT_SIDE,
  },
};

type FittedPicture =
  | { outcome: "fits"; bytes: Buffer; extension: Picture["extension"] }
  | { outcome: "refused"; faults: readonly FileFault[] };

interface PictureFile {
  bytes: Buffer;
  /** Of the file, for messages. */
  name: string;
  use: PictureUse;
}

interface FitDeps {
  media: MediaStorage;
  ffmpeg: Ffmpeg;
}

/**
 * Makes of an uploaded picture one that every screen shows, without what cameras and editors write beside it. A poster is
 * turned, made smaller or reduced to its first picture where that is needed; the pictures of a bot become small squares.
 * Conversion needs ffmpeg. Without it, the upload is refused with the command to run.
 */
export async function fitPicture(deps: FitDeps, file: PictureFile): Promise<FittedPicture> {
  const { squareSide, minSide } = rulesOf[file.use];
  const max = `${MAX_UPLOADED_PICTURE_BYTES / 1024 / 1024} MiB`;
  if (file.bytes.byteLength > MAX_UPLOADED_PICTURE_BYTES) return refused(fileFault("FILE_TOO_LARGE", { max }));
  const found = inspectPicture(file.bytes, { minSide });
  if (found.outcome === "refused") return found;
  // What stands behind its end is cut off.
  const own = { ...file, bytes: file.bytes.subarray(0, found.picture.byteLength) };
  const made = await (squareSide === undefined ? fitPoster(deps, own, found) : fitSquare(deps, own, found, squareSide));
  if (made.outcome === "refused") return made;
  const bytes = strippedPicture(made.bytes, made.extension);
  return bytes === undefined ? refused(fileFault("PICTURE_UNREADABLE")) : { ...made, bytes };
}

type ReadPicture = Exclude<InspectedPicture, { outcome: "refused" }>;

function refused(...faults: readonly FileFault[]): Extract<FittedPicture, { outcome: "refused" }> {
  return { outcome: "refused", faults };
}

async function fitPoster(deps: FitDeps, file: PictureFile, found: ReadPicture): Promise<FittedPicture> {
  const { picture } = found;
  if (found.outcome === "showable") return { outcome: "fits", bytes: file.bytes, extension: picture.extension };
  const faults = [...found.faults];
  if (picture.width * picture.height <= rulesOf[file.use].maxPixels) {
    const made = await converted(deps, file, picture);
    if (typeof made !== "string") return made;
    if (made === "busy") return refused(fileFault("SERVER_BUSY"));
    if (made === "too-long") faults.push(fileFault("CONVERSION_TOO_LONG"));
  }
  return refused(...faults, convertWith(picture, file));
}

async function fitSquare(
  deps: FitDeps,
  file: PictureFile,
  { outcome, picture }: ReadPicture,
  side: number,
): Promise<FittedPicture> {
  const { maxPixels } = rulesOf[file.use];
  const { width, height, extension, isAnimated } = picture;
  if (isAnimated) return refused(animatedPicture(picture));
  if (width * height > maxPixels) return refused(tooManyPixels(picture, maxPixels));
  const made = await converted(deps, file, picture);
  switch (made) {
    case "busy":
      return refused(fileFault("SERVER_BUSY"));
    case "too-long":
      return refused(fileFault("CONVERSION_TOO_LONG"), convertWith(picture, file));
    // A file that browsers can show, ffmpeg can read.
    case "failed":
      return refused(fileFault("PICTURE_UNREADABLE"));
    case "missing":
      return outcome === "showable" && width === height && width <= side
        ? { outcome: "fits", bytes: file.bytes, extension }
        : refused(fileFault("PICTURE_NOT_SQUARE", { max: String(side) }), convertWith(picture, file));
    default:
      return made;
  }
}

async function converted(
  { media, ffmpeg }: FitDeps,
  { bytes, use }: PictureFile,
  picture: Picture,
): Promise<Extract<FittedPicture, { outcome: "fits" }> | Exclude<FfmpegOutcome, "done">> {
  return media.withScratch(async (pathOf) => {
    await writeFile(pathOf("picture"), bytes, { mode: 0o644 });
    for (const { extension, words } of rulesOf[use].formats) {
      const to = pathOf(`fitted.${extension}`);
      const outputs = [{ words: [...wordsFor(picture, use), ...words], to }];
      const work = {
        from: pathOf("picture"),
        container: picture.extension,
        inputWords: asStored,
        outputs,
        maxMs: MAX_MS,
      };
      const outcome = await runFfmpeg(ffmpeg, work);
      if (outcome !== "done" && outcome !== "failed") return outcome;
      const made = outcome === "done" ? await readFile(to) : Buffer.alloc(0);
      if (inspectPicture(made).outcome === "showable") return { outcome: "fits", bytes: made, extension };
    }
    return "failed";
  });
}

/** Some versions of ffmpeg turn a JPEG themselves. */
export const asStored = ["-noautorotate"];

/** ffmpeg's filters that show a picture upright, by its EXIF orientation. */
export const uprightFilters: readonly (readonly string[])[] = [
  [],
  [],
  ["hflip"],
  ["hflip", "vflip"],
  ["vflip"],
  ["transpose=0"],
  ["transpose=1"],
  ["transpose=3"],
  ["transpose=2"],
];

function wordsFor({ orientation }: Picture, use: PictureUse): string[] {
  const filters = [...(uprightFilters[orientation] ?? []), ...rulesOf[use].filters].join(",");
  return ["-frames:v", "1", "-map_metadata", "-1", "-vf", filters];
}

/** For the owner of the file. ffmpeg reads animations of WebP only since its version 8.1. */
function convertWith(picture: Picture, { name, use }: PictureFile): FileFault {
  const fitted = `${name.replace(/\.[^./\\]*$/, "")}-fitted.webp`;
  if (picture.isAnimated && picture.extension === "webp")
    return fileFault("CONVERT_WITH", {
      command: `webpmux -get frame 1 ${shellQuoted(name)} -o ${shellQuoted(fitted)}`,
    });
  const words = wordsFor(picture, use).map((word) => (/^[\w:+-]+$/.test(word) ? word : `"${word}"`));
  const command = ["ffmpeg", ...asStored, "-i", shellQuoted(name), ...words, shellQuoted(fitted)].join(" ");
  return fileFault("CONVERT_WITH", { command });
}
