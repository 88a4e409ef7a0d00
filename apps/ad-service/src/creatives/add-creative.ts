import { createHash, randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, open, rename, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { AdDatabase } from "../ad-database.ts";
import { inspectVideo, type PlayableVideo } from "./inspect-video.ts";

export interface Creative {
  creativeId: string;
  sha256: string;
  /** Below `/media/`. */
  fileName: string;
  mediaType: string;
  byteLength: number;
  durationMs: number;
  width: number;
  height: number;
}

export type AddCreativeOutcome =
  | { outcome: "added"; creative: Creative }
  | { outcome: "refused"; message: string; mend?: string };

const MOST_BYTES = 100 * 1024 * 1024;
/** Of equal files on different nodes ETag and Last-Modified are equal too, since both are made of size and time. */
const FIXED_TIME = new Date("2000-01-01T00:00:00Z");

/**
 * Stores a video under the hash of its bytes. The same video added twice is one creative. `name` is how its owner calls
 * the file; it stands in the command that mends it.
 */
export async function addCreative(
  database: AdDatabase,
  upload: { bytes: AsyncIterable<Uint8Array>; name: string; mediaDir: string; now: Date },
): Promise<AddCreativeOutcome> {
  const { mediaDir, now } = upload;
  await mkdir(mediaDir, { recursive: true });
  const temporary = join(mediaDir, `.upload-${randomUUID()}`);
  try {
    const { sha256, byteLength } = await writeHashed(temporary, upload.bytes);
    if (byteLength > MOST_BYTES) {
      return { outcome: "refused", message: `the file is larger than ${MOST_BYTES / 1024 / 1024} MiB` };
    }
    const video = await inspectVideo(temporary, upload.name);
    if (video.outcome === "unplayable") {
      const { message, mend } = video;
      return { outcome: "refused", message, ...(mend !== undefined && { mend }) };
    }
    const creative = creativeOf(video, sha256, byteLength);
    await publishFile(temporary, join(mediaDir, creative.fileName), mediaDir);
    await storeCreative(database, creative, now);
    return { outcome: "added", creative };
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeHashed(path: string, bytes: AsyncIterable<Uint8Array>) {
  const hash = createHash("sha256");
  let byteLength = 0;
  const counted = async function* () {
    for await (const chunk of bytes) {
      byteLength += chunk.byteLength;
      if (byteLength > MOST_BYTES) return;
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(counted, createWriteStream(path, { flags: "wx", mode: 0o644, flush: true }));
  return { sha256: hash.digest("hex"), byteLength };
}

/** A reader never sees half a file: the name appears with all of its bytes, also after a power cut. */
async function publishFile(temporary: string, target: string, folder: string): Promise<void> {
  await utimes(temporary, FIXED_TIME, FIXED_TIME);
  await rename(temporary, target);
  const directory = await open(folder, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function creativeOf(video: PlayableVideo, sha256: string, byteLength: number): Creative {
  const { mediaType, durationMs, width, height } = video;
  const fileName = `${sha256}.${video.extension}`;
  return {
    creativeId: `cre_${sha256.slice(0, 24)}`,
    sha256,
    fileName,
    mediaType,
    byteLength,
    durationMs,
    width,
    height,
  };
}

async function storeCreative(database: AdDatabase, creative: Creative, now: Date): Promise<void> {
  await database.query
    .insertInto("creatives")
    .values({
      creative_id: creative.creativeId,
      sha256: creative.sha256,
      file_name: creative.fileName,
      media_type: creative.mediaType,
      byte_length: creative.byteLength,
      duration_ms: creative.durationMs,
      width: creative.width,
      height: creative.height,
      created_at: now,
    })
    .onConflict((conflict) => conflict.column("creative_id").doNothing())
    .execute();
}
