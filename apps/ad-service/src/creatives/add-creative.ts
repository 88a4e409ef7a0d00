import { hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { PassThrough, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Creative, pictureSeconds, type Rendition } from "@intermission/operator-api/creatives";
import { type FileFault, fileFault, textOfFileFaults } from "@intermission/operator-api/file-faults";
import { type Author, changeAudited } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { BucketFault } from "./bucket-faults.ts";
import { conversionCommand, convertVideo, encodeAll } from "./convert-video.ts";
import { findCreative, insertCreative, nameCreative, storedName } from "./creatives.ts";
import type { Ffmpeg } from "./ffmpeg.ts";
import { inspectVideo, type PlayableVideo, type UnplayableVideo } from "./inspect-video.ts";
import { makePoster } from "./make-poster.ts";
import { hashOfFile, isFile, type MediaStorage } from "./media-storage.ts";
import { type MadeRendition, makeRenditions, renditionFiles } from "./renditions.ts";
import { isPicture, makeStillVideo } from "./still-video.ts";
import { stripVideo } from "./strip-video.ts";
import { keepWork, resumeWork } from "./unfinished-work.ts";

export type AddCreativeOutcome =
  /**
   * `converted`: the fault of the given file that the stored file does not have. `renditionFault`: why lighter files,
   * which would help slow connections, are missing. `posterFault`: why ffmpeg made no poster.
   */
  | { outcome: "added"; creative: Creative; converted?: string; renditionFault?: string; posterFault?: string }
  /** `conversion` is the ffmpeg command that makes the file acceptable, if there is one. */
  | { outcome: "refused"; faults: readonly FileFault[]; conversion?: string };

export const MAX_VIDEO_BYTES = 100 * 1024 * 1024;

interface AddCreativeDeps {
  database: Database;
  media: MediaStorage;
  ffmpeg: Ffmpeg;
  /** Time limit for lighter files; 2 min by default. */
  maxMakingMs?: number;
}

/** The advertiser whose video it is, and whether that advertiser uploads it, so that it is a draft. */
interface CreativeOwner {
  advertiserId: string;
  isSubmission: boolean;
}

interface Upload {
  bytes: AsyncIterable<Uint8Array>;
  /** Its owner's name for the file. */
  name: string;
  /** How long a picture is shown; 10 by default. */
  pictureSeconds?: number;
  author?: Author;
  now: Date;
  owner?: CreativeOwner;
}

type PathOf = (name: string) => string;

/** What takes ffmpeg long. */
const madeFiles = ["converted", ...renditionFiles];

/**
 * Stores a video under the hash of its bytes. Adding the same video twice gives one creative. A video that phones would
 * not play, or not start immediately, is converted if ffmpeg is installed, and a poster and lighter files are made; a
 * video that is added again gets the lighter files that it lacks, and those of its files that the storage has lost. Of a
 * picture a video is made that shows it for some seconds.
 */
export async function addCreative(
  { database, media, ffmpeg, maxMakingMs }: AddCreativeDeps,
  upload: Upload,
): Promise<AddCreativeOutcome> {
  return media.withScratch(async (pathOf) => {
    if (!(await hasWritten(pathOf("upload"), upload.bytes))) {
      const max = `${MAX_VIDEO_BYTES / 1024 / 1024} MiB`;
      return { outcome: "refused", faults: [fileFault("FILE_TOO_LARGE", { max })] };
    }
    if ((await stat(pathOf("upload"))).size === 0) return { outcome: "refused", faults: [fileFault("FILE_EMPTY")] };
    const seconds = (await isPicture(pathOf("upload"))) ? (upload.pictureSeconds ?? pictureSeconds.usual) : undefined;
    const uploaded = await hashOfFile(pathOf("upload"));
    // A picture that is shown for another time is another creative, of which other files are made.
    const sha256 = seconds === undefined ? uploaded : hash("sha256", `${uploaded} ${seconds}`);
    const work = { media, sha256, pathOf };
    await resumeWork(work, madeFiles);
    const found =
      seconds === undefined
        ? await inspectOrConvert(ffmpeg, pathOf)
        : await makeStill(ffmpeg, { pathOf, name: basename(upload.name), seconds, sourceSha256: sha256 });
    if (found.outcome === "unplayable") {
      const { faults, conversion } = found;
      return {
        outcome: "refused",
        faults,
        ...(conversion !== undefined && { conversion: conversionCommand(conversion, upload.name) }),
      };
    }
    const deps = { database, media, ffmpeg, maxMakingMs };
    const { author, now, owner } = upload;
    const name = basename(upload.name);
    const options = { pathOf, name, author, now, owner };
    const kept = await keepVideo(deps, found, options).catch(async (error: unknown) => {
      if (error instanceof BucketFault && error.isAway) await keepWork(work, madeFiles);
      throw error;
    });
    const { creativeId } = kept.creative;
    if (kept.creative.name === null)
      kept.creative = (await nameCreative(database, { creativeId, name, author, isDefault: true })) ?? kept.creative;
    return { outcome: "added", ...kept, ...(found.converted !== undefined && { converted: found.converted }) };
  });
}

/** Returns false if there are more bytes than allowed. */
async function hasWritten(path: string, bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  let byteLength = 0;
  const counted = async function* () {
    for await (const chunk of bytes) {
      byteLength += chunk.byteLength;
      if (byteLength > MAX_VIDEO_BYTES) return;
      yield chunk;
    }
  };
  await pipeline(counted, createWriteStream(path, { flags: "wx", mode: 0o644 }));
  return byteLength <= MAX_VIDEO_BYTES;
}

/** A converted file that lasts longer or shorter is not what its owner saw. */
const MAX_DRIFT_SECONDS = 0.5;

/** `sourceSha256` is of the bytes before they were stripped: another file is another creative, also where only its notes differ. */
type Playable = StrippedVideo & { path: string; converted?: string };
type StrippedVideo = PlayableVideo & { sourceSha256: string };

async function inspectOrConvert(ffmpeg: Ffmpeg, pathOf: PathOf): Promise<Playable | UnplayableVideo> {
  const path = pathOf("upload");
  const found = await inspectAndStrip(path);
  if (found.outcome === "playable") return { ...found, path };
  const { conversion, container } = found;
  if (conversion === undefined || container === undefined) return found;
  const converted = pathOf("converted");
  const isMade = await isFile(converted);
  const outcome = isMade ? "done" : await convertVideo(conversion, { ffmpeg, from: path, container, to: converted });
  if (outcome === "busy") return { ...found, faults: [fileFault("SERVER_BUSY")] };
  if (outcome === "too-long") return { ...found, faults: [...found.faults, fileFault("CONVERSION_TOO_LONG")] };
  if (outcome !== "done") return found;
  const better = await inspectAndStrip(converted);
  if (better.outcome === "unplayable" || (await stat(converted)).size > MAX_VIDEO_BYTES) return found;
  if (found.seconds !== undefined && Math.abs(better.durationMs / 1000 - found.seconds) > MAX_DRIFT_SECONDS)
    return found;
  return { ...better, path: converted, converted: textOfFileFaults(found.faults) };
}

async function makeStill(
  ffmpeg: Ffmpeg,
  { pathOf, sourceSha256, ...of }: { pathOf: PathOf; name: string; seconds: number; sourceSha256: string },
): Promise<Playable | UnplayableVideo> {
  const path = pathOf("still");
  const still = await makeStillVideo(ffmpeg, { from: pathOf("upload"), to: path, ...of });
  switch (still.outcome) {
    case "refused":
      return { outcome: "unplayable", faults: still.faults };
    case "made": {
      const found = await inspectAndStrip(path);
      if (found.outcome === "unplayable") return found;
      return { ...found, path, sourceSha256, converted: `it is a picture, shown for ${of.seconds} s` };
    }
    default:
      return still satisfies never;
  }
}

async function inspectAndStrip(path: string): Promise<StrippedVideo | UnplayableVideo> {
  const found = await inspectVideo(path);
  if (found.outcome === "unplayable") return found;
  const sourceSha256 = await hashOfFile(path);
  const fault = await stripVideo(path, found.extension);
  if (fault === undefined) return { ...found, sourceSha256 };
  return { outcome: "unplayable", faults: [fault], conversion: encodeAll };
}

interface KeepDeps {
  database: Database;
  media: MediaStorage;
  ffmpeg: Ffmpeg;
  maxMakingMs: number | undefined;
}

interface KeepOptions {
  pathOf: PathOf;
  name: string;
  author: Author | undefined;
  now: Date;
  owner: CreativeOwner | undefined;
}

async function keepVideo(
  deps: KeepDeps,
  video: Playable,
  options: KeepOptions,
): Promise<{ creative: Creative; renditionFault?: string; posterFault?: string }> {
  const { database, ffmpeg, maxMakingMs: maxMs } = deps;
  const { sourceSha256 } = video;
  const { pathOf, author, owner } = options;
  const sha256 = await hashOfFile(video.path);
  // Each advertiser's is a creative of its own: what one has approved is not approved for another.
  const creativeId = `cre_${(owner ? hash("sha256", `${owner.advertiserId} ${sourceSha256}`) : sourceSha256).slice(0, 24)}`;
  const known = await findCreative(database, creativeId);
  const lost = known === undefined ? [] : await lostFiles(deps.media, known);
  if (known && known.renditions.length > 0 && lost.length === 0) return { creative: known };
  // Made before the file is kept, which moves it away from here.
  const made = await makeRenditions({ ffmpeg, maxMs }, { path: video.path, video, pathOf });
  const renditions: Rendition[] = [];
  for (const rendition of made.renditions) renditions.push(await keepRendition(deps.media, rendition));
  renditions.sort((a, b) => b.byteLength - a.byteLength);
  const posterFault = known
    ? await keepLost(deps, video, { sha256, pathOf, lost })
    : await keepOriginal(deps, video, { ...options, creativeId, sha256, renditions });
  // Also of a new one: another upload of the same video may have stored it meanwhile, without lighter files.
  if (renditions.length > 0) {
    const values = [creativeId, JSON.stringify(renditions), JSON.stringify(known?.renditions ?? [])];
    await changeAudited(database, { objectId: creativeId, author }, { statement: setRenditions, values });
  }
  const creative = await findCreative(database, creativeId);
  if (!creative) throw new Error("a creative vanished while it was added");
  return {
    creative,
    ...(made.fault !== undefined && { renditionFault: made.fault }),
    ...(posterFault !== undefined && { posterFault }),
  };
}

const setRenditions = statement<{ id: string }>(
  "creatives.set-renditions",
  "update creatives set renditions = $2 where creative_id = $1 and renditions = $3::jsonb returning creative_id as id",
);

/** What is made of a video, as far as the storage does not have it any more. */
async function lostFiles(
  media: MediaStorage,
  { fileName, posterFileName, renditions }: Pick<Creative, "fileName" | "posterFileName" | "renditions">,
): Promise<string[]> {
  const lost: string[] = [];
  for (const name of [fileName, posterFileName, ...renditions.map((one) => one.fileName)])
    if (name !== null && !(await media.has(name))) lost.push(name);
  return lost;
}

/** Stores a known video and its poster again. A poster that was uploaded separately cannot be made from the video. */
async function keepLost(
  { media, ffmpeg }: KeepDeps,
  video: Playable,
  { sha256, pathOf, lost }: { sha256: string; pathOf: PathOf; lost: readonly string[] },
): Promise<string | undefined> {
  if (lost.length === 0) return undefined;
  const poster = await makePoster({ ffmpeg, pathOf }, { path: video.path, video });
  if (poster.outcome === "made") {
    const posterFileName = `${await hashOfFile(poster.path)}.${poster.extension}`;
    if (lost.includes(posterFileName)) await media.keep(poster.path, posterFileName);
  }
  const fileName = `${sha256}.${video.extension}`;
  if (lost.includes(fileName)) await media.keep(video.path, fileName);
  return undefined;
}

/** Returns why there is no poster, if ffmpeg made none. */
async function keepOriginal(
  { database, media, ffmpeg }: KeepDeps,
  video: Playable,
  named: KeepOptions & { creativeId: string; sha256: string; renditions: Rendition[] },
): Promise<string | undefined> {
  const { creativeId, sha256, pathOf, name, author, now, owner, renditions } = named;
  const { size } = await stat(video.path);
  const poster = await makePoster({ ffmpeg, pathOf }, { path: video.path, video });
  const posterFileName = poster.outcome === "made" ? `${await hashOfFile(poster.path)}.${poster.extension}` : null;
  if (poster.outcome === "made" && posterFileName !== null) await media.keep(poster.path, posterFileName);
  const fileName = `${sha256}.${video.extension}`;
  await media.keep(video.path, fileName);
  const { mediaType, durationMs, width, height, framesBySecond } = video;
  await insertCreative(database, {
    author,
    creativeId,
    name: storedName(name),
    kind: "file",
    sha256,
    fileName,
    posterFileName,
    mediaType,
    byteLength: size,
    durationMs,
    width,
    height,
    framesBySecond,
    renditions,
    createdAt: now,
    ...(owner && { advertiserId: owner.advertiserId, review: owner.isSubmission ? "draft" : "approved" }),
  });
  return poster.outcome === "made" ? undefined : poster.fault;
}

async function keepRendition(media: MediaStorage, { path, video, byteLength }: MadeRendition): Promise<Rendition> {
  const fileName = `${await hashOfFile(path)}.${video.extension}`;
  const { mediaType, width, height } = video;
  await media.keep(path, fileName);
  return { fileName, mediaType, byteLength, width, height };
}

/** Downloads an address into a stream, which stays open. "refused": the address returned no video. */
export type DownloadVideo = (request: {
  url: string;
  into: Writable;
  signal: AbortSignal;
  maxBytes: number;
}) => Promise<{ outcome: "downloaded" } | { outcome: "refused"; message: string }>;

/** Enough for `addCreative` to detect that the file is too large; it reads no further. */
const MAX_DOWNLOADED_BYTES = MAX_VIDEO_BYTES + 1024 * 1024;

/** The address returned no video: the operator can correct it. */
class DownloadFault extends Error {}

/**
 * Downloads a video once, now, and adds it like an upload: this service serves it, and it does not change with its
 * address.
 */
export async function addCreativeByAddress(
  { downloadVideo, ...deps }: AddCreativeDeps & { downloadVideo: DownloadVideo },
  { url, ...added }: { url: string; author?: Author; now: Date },
): Promise<AddCreativeOutcome> {
  const name = basename(URL.parse(url)?.pathname ?? "") || "video.mp4";
  const bytes = new PassThrough();
  // The reader of the stream gets the error, later or never; without a listener the error would be unhandled.
  bytes.on("error", () => {});
  const enough = new AbortController();
  const request = { url, into: bytes, signal: enough.signal, maxBytes: MAX_DOWNLOADED_BYTES };
  const downloading = downloadVideo(request).then(
    (result) => (result.outcome === "downloaded" ? bytes.end() : bytes.destroy(new DownloadFault(result.message))),
    (error) => bytes.destroy(error),
  );
  try {
    return await addCreative(deps, { bytes, name, ...added });
  } catch (error) {
    if (error instanceof DownloadFault)
      return { outcome: "refused", faults: [fileFault("DOWNLOAD", { reason: error.message })] };
    throw error;
  } finally {
    enough.abort();
    await downloading;
  }
}
