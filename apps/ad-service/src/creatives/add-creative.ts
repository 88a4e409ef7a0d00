import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { AdDatabase } from "../ad-database.ts";
import { hashOfFile } from "./hash-of-file.ts";
import { inspectVideo, type PlayableVideo, type UnplayableVideo } from "./inspect-video.ts";
import { makePoster } from "./make-poster.ts";
import type { MediaStorage } from "./media-storage.ts";
import { mendCommand, mendVideo } from "./mend-video.ts";
import { type Creative, findCreative } from "./rows.ts";

export type AddCreativeOutcome =
  /** `mended`: what was wrong with the file and is not with what was kept. */
  | { outcome: "added"; creative: Creative; mended?: string }
  /** `mend` is the ffmpeg command that makes it acceptable, where there is one. */
  | { outcome: "refused"; message: string; mend?: string };

export const MOST_VIDEO_BYTES = 100 * 1024 * 1024;

export interface AddCreativeDeps {
  database: AdDatabase;
  media: MediaStorage;
  /** Its name or path; it need not be there. */
  ffmpeg?: string;
}

type PathOf = (name: string) => string;

/**
 * Stores a video under the hash of its bytes. The same video added twice is one creative. What phones would not play, or
 * not at once, is mended where ffmpeg is on this machine, and a poster is made. `name` is how its owner calls the file.
 */
export async function addCreative(
  { database, media, ffmpeg = "ffmpeg" }: AddCreativeDeps,
  upload: { bytes: AsyncIterable<Uint8Array>; name: string; now: Date },
): Promise<AddCreativeOutcome> {
  return media.withScratch(async (pathOf) => {
    if (!(await hasWritten(pathOf("upload"), upload.bytes))) {
      return { outcome: "refused", message: `the file is larger than ${MOST_VIDEO_BYTES / 1024 / 1024} MiB` };
    }
    const found = await inspectOrMend(ffmpeg, pathOf);
    if (found.outcome === "unplayable") {
      const { message, mend } = found;
      return { outcome: "refused", message, ...(mend !== undefined && { mend: mendCommand(mend, upload.name) }) };
    }
    const creative = await keepVideo({ database, media, ffmpeg }, found, { pathOf, now: upload.now });
    return { outcome: "added", creative, ...(found.mended !== undefined && { mended: found.mended }) };
  });
}

/** False: there was more than may be. */
async function hasWritten(path: string, bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  let byteLength = 0;
  const counted = async function* () {
    for await (const chunk of bytes) {
      byteLength += chunk.byteLength;
      if (byteLength > MOST_VIDEO_BYTES) return;
      yield chunk;
    }
  };
  await pipeline(counted, createWriteStream(path, { flags: "wx", mode: 0o644 }));
  return byteLength <= MOST_VIDEO_BYTES;
}

type Playable = PlayableVideo & { path: string; mended?: string };

async function inspectOrMend(ffmpeg: string, pathOf: PathOf): Promise<Playable | UnplayableVideo> {
  const path = pathOf("upload");
  const found = await inspectVideo(path);
  if (found.outcome === "playable") return { ...found, path };
  if (found.mend === undefined) return found;
  const mended = pathOf("mended");
  if (!(await mendVideo(found.mend, { ffmpeg, from: path, to: mended }))) return found;
  const better = await inspectVideo(mended);
  if (better.outcome === "unplayable" || (await stat(mended)).size > MOST_VIDEO_BYTES) return found;
  return { ...better, path: mended, mended: found.message };
}

async function keepVideo(
  { database, media, ffmpeg }: Required<AddCreativeDeps>,
  video: Playable,
  { pathOf, now }: { pathOf: PathOf; now: Date },
): Promise<Creative> {
  const sha256 = await hashOfFile(video.path);
  const creativeId = `cre_${sha256.slice(0, 24)}`;
  const known = await findCreative(database, creativeId);
  if (known) return known;
  const { size } = await stat(video.path);
  const posterFileName = await keepPoster({ media, ffmpeg }, video, pathOf("poster.jpg"));
  const fileName = `${sha256}.${video.extension}`;
  await media.keep(video.path, fileName);
  await database.query
    .insertInto("creatives")
    .values({
      creative_id: creativeId,
      sha256,
      file_name: fileName,
      poster_file_name: posterFileName,
      media_type: video.mediaType,
      byte_length: size,
      duration_ms: video.durationMs,
      width: video.width,
      height: video.height,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column("creative_id").doNothing())
    .execute();
  const kept = await findCreative(database, creativeId);
  if (!kept) throw new Error("a creative vanished while it was added");
  return kept;
}

async function keepPoster(
  { media, ffmpeg }: Pick<Required<AddCreativeDeps>, "media" | "ffmpeg">,
  video: Playable,
  path: string,
): Promise<string | null> {
  if (!(await makePoster({ ffmpeg, from: video.path, to: path, durationMs: video.durationMs }))) return null;
  const name = `${await hashOfFile(path)}.jpg`;
  await media.keep(path, name);
  return name;
}
