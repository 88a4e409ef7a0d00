import { hash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { PassThrough, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Creative, Rendition } from "@intermission/operator-api/creatives";
import { type FileFault, fileFault, textOfFileFaults } from "@intermission/operator-api/file-faults";
import { type Database, statement } from "@intermission/postgres/open-database";
import { nameChangedObject } from "@intermission/postgres/recorded-changes";
import { conversionCommand, convertVideo } from "./convert-video.ts";
import { findCreative, insertCreative, nameCreative } from "./creatives.ts";
import type { Ffmpeg } from "./ffmpeg.ts";
import { inspectVideo, type PlayableVideo, type UnplayableVideo } from "./inspect-video.ts";
import { makePoster } from "./make-poster.ts";
import { hashOfFile, type MediaStorage } from "./media-storage.ts";
import { type MadeRendition, makeRenditions } from "./renditions.ts";

export type AddCreativeOutcome =
  /**
   * `converted`: the fault of the given file that the stored file does not have. `renditionFault`: why lighter files,
   * which would help slow connections, are missing. `posterFault`: why ffmpeg made no poster.
   */
  | { outcome: "added"; creative: Creative; converted?: string; renditionFault?: string; posterFault?: string }
  /** `conversion` is the ffmpeg command that makes the file acceptable, if there is one. */
  | { outcome: "refused"; faults: readonly FileFault[]; conversion?: string };

export const MAX_VIDEO_BYTES = 100 * 1024 * 1024;

export interface AddCreativeDeps {
  database: Database;
  media: MediaStorage;
  ffmpeg: Ffmpeg;
  /** Time limit for lighter files; 2 min by default. */
  maxMakingMs?: number;
}

/** The advertiser whose video it is, and whether that advertiser uploads it, so that it is a draft. */
export interface CreativeOwner {
  advertiserId: string;
  isSubmission: boolean;
}

type PathOf = (name: string) => string;

/**
 * Stores a video under the hash of its bytes. Adding the same video twice gives one creative. A video that phones would
 * not play, or not start immediately, is converted if ffmpeg is installed, and a poster and lighter files are made; a
 * video that is added again gets the lighter files that it lacks, and those of its files that the storage has lost. `name` is its owner's name for the file.
 */
export async function addCreative(
  { database, media, ffmpeg, maxMakingMs }: AddCreativeDeps,
  upload: { bytes: AsyncIterable<Uint8Array>; name: string; now: Date; owner?: CreativeOwner },
): Promise<AddCreativeOutcome> {
  return media.withScratch(async (pathOf) => {
    if (!(await hasWritten(pathOf("upload"), upload.bytes))) {
      const max = `${MAX_VIDEO_BYTES / 1024 / 1024} MiB`;
      return { outcome: "refused", faults: [fileFault("FILE_TOO_LARGE", { max })] };
    }
    if ((await stat(pathOf("upload"))).size === 0) return { outcome: "refused", faults: [fileFault("FILE_EMPTY")] };
    const found = await inspectOrConvert(ffmpeg, pathOf);
    if (found.outcome === "unplayable") {
      const { faults, conversion } = found;
      return {
        outcome: "refused",
        faults,
        ...(conversion !== undefined && { conversion: conversionCommand(conversion, upload.name) }),
      };
    }
    const deps = { database, media, ffmpeg, maxMakingMs };
    const kept = await keepVideo(deps, found, { pathOf, now: upload.now, owner: upload.owner });
    const named = { creativeId: kept.creative.creativeId, name: basename(upload.name), isDefault: true };
    kept.creative = (await nameCreative(database, named)) ?? kept.creative;
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

type Playable = PlayableVideo & { path: string; converted?: string };

async function inspectOrConvert(ffmpeg: Ffmpeg, pathOf: PathOf): Promise<Playable | UnplayableVideo> {
  const path = pathOf("upload");
  const found = await inspectVideo(path);
  if (found.outcome === "playable") return { ...found, path };
  const { conversion, container } = found;
  if (conversion === undefined || container === undefined) return found;
  const converted = pathOf("converted");
  const outcome = await convertVideo(conversion, { ffmpeg, from: path, container, to: converted });
  if (outcome === "busy") return { ...found, faults: [fileFault("SERVER_BUSY")] };
  if (outcome === "too-long") return { ...found, faults: [...found.faults, fileFault("CONVERSION_TOO_LONG")] };
  if (outcome !== "done") return found;
  const better = await inspectVideo(converted);
  if (better.outcome === "unplayable" || (await stat(converted)).size > MAX_VIDEO_BYTES) return found;
  if (found.seconds !== undefined && Math.abs(better.durationMs / 1000 - found.seconds) > MAX_DRIFT_SECONDS)
    return found;
  return { ...better, path: converted, converted: textOfFileFaults(found.faults) };
}

interface KeepDeps {
  database: Database;
  media: MediaStorage;
  ffmpeg: Ffmpeg;
  maxMakingMs: number | undefined;
}

async function keepVideo(
  deps: KeepDeps,
  video: Playable,
  { pathOf, now, owner }: { pathOf: PathOf; now: Date; owner: CreativeOwner | undefined },
): Promise<{ creative: Creative; renditionFault?: string; posterFault?: string }> {
  const { database, ffmpeg, maxMakingMs: maxMs } = deps;
  const sha256 = await hashOfFile(video.path);
  // Each advertiser's is a creative of its own: what one has approved is not approved for another.
  const creativeId = `cre_${(owner ? hash("sha256", `${owner.advertiserId} ${sha256}`) : sha256).slice(0, 24)}`;
  nameChangedObject(creativeId);
  const known = await findCreative(database, creativeId);
  const lost = known === undefined ? [] : await lostFiles(deps.media, known);
  if (known && known.renditions.length > 0 && lost.length === 0) return { creative: known };
  // Made before the file is kept, which moves it away from here.
  const made = await makeRenditions({ ffmpeg, maxMs }, { path: video.path, video, pathOf });
  const posterFault = known
    ? await keepLost(deps, video, { sha256, pathOf, lost })
    : await keepOriginal(deps, video, { creativeId, sha256, pathOf, now, owner });
  const renditions: Rendition[] = [];
  for (const rendition of made.renditions) renditions.push(await keepRendition(deps.media, rendition));
  renditions.sort((a, b) => b.byteLength - a.byteLength);
  if (renditions.length > 0)
    await database.run(setRenditions, [
      creativeId,
      JSON.stringify(renditions),
      JSON.stringify(known?.renditions ?? []),
    ]);
  const creative = await findCreative(database, creativeId);
  if (!creative) throw new Error("a creative vanished while it was added");
  return {
    creative,
    ...(made.fault !== undefined && { renditionFault: made.fault }),
    ...(posterFault !== undefined && { posterFault }),
  };
}

const setRenditions = statement<never>(
  "creatives.set-renditions",
  "update creatives set renditions = $2 where creative_id = $1 and renditions = $3::jsonb",
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
  named: { creativeId: string; sha256: string; pathOf: PathOf; now: Date; owner: CreativeOwner | undefined },
): Promise<string | undefined> {
  const { creativeId, sha256, pathOf, now, owner } = named;
  const { size } = await stat(video.path);
  const poster = await makePoster({ ffmpeg, pathOf }, { path: video.path, video });
  const posterFileName = poster.outcome === "made" ? `${await hashOfFile(poster.path)}.${poster.extension}` : null;
  if (poster.outcome === "made" && posterFileName !== null) await media.keep(poster.path, posterFileName);
  const fileName = `${sha256}.${video.extension}`;
  await media.keep(video.path, fileName);
  const { mediaType, durationMs, width, height, framesBySecond } = video;
  await insertCreative(database, {
    creativeId,
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
  { url, now }: { url: string; now: Date },
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
    return await addCreative(deps, { bytes, name, now });
  } catch (error) {
    if (error instanceof DownloadFault)
      return { outcome: "refused", faults: [fileFault("DOWNLOAD", { reason: error.message })] };
    throw error;
  } finally {
    enough.abort();
    await downloading;
  }
}
