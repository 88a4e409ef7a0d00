import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants, mkdir, mkdtemp, open, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { S3ServiceException } from "@aws-sdk/client-s3";
import { storageFull, storageUnwritable } from "@intermission/server/refuse";
import { StartFault } from "@intermission/server/start-fault";

/** Storage for the files of creatives, under names made of the hash of their bytes. */
export interface MediaStorage {
  /** Gives `work` paths on this machine for temporary files. Files that are left there are removed when `work` ends. */
  withScratch<Result>(work: (pathOf: (name: string) => string) => Promise<Result>): Promise<Result>;
  /** For the bytes of unfinished uploads: on this machine, or shared with the other nodes if the videos are. */
  readonly uploadsFolder: string;
  /** For people, such as "the folder /srv/media". */
  readonly place: string;
  /** Whether there is a file of this name. Rejects if the storage does not answer, or may not say. */
  has(name: string): Promise<boolean>;
  /** Stores a complete file; storing it again changes nothing. The file may no longer be at `path` afterwards. */
  keep(path: string, name: string): Promise<void>;
}

/** Equal files on different nodes have equal ETag and Last-Modified headers, since both derive from size and time. */
const FIXED_TIME = new Date("2000-01-01T00:00:00Z");

export interface FolderStorage extends MediaStorage {
  kind: "folder";
  folder: string;
}

const scratchPrefix = ".upload-";

/** Whether a path below the folder of videos belongs to an upload that has not ended. */
export function isScratch(path: string): boolean {
  return path.startsWith(scratchPrefix);
}

/** A folder; nodes may share it. */
export function folderStorage(folder: string): FolderStorage {
  return {
    kind: "folder",
    folder,
    uploadsFolder: join(folder, `${scratchPrefix}parts`),
    place: `the folder ${folder}`,
    async has(name) {
      const found = await stat(join(folder, name)).catch(missingAsUndefined);
      return found?.isFile() === true;
    },
    async withScratch(work) {
      const scratch = join(folder, `${scratchPrefix}${randomUUID()}`);
      try {
        await mkdir(scratch, { recursive: true });
        return await work((name) => join(scratch, name));
      } catch (error) {
        throw faultOfFolder(folder, error) ?? error;
      } finally {
        // A folder that became read-only keeps it; the error above says more.
        await rm(scratch, { recursive: true, force: true }).catch(() => {});
      }
    },
    /** A reader never sees a partial file: the name appears with all of its bytes, also after a power cut. */
    async keep(path, name) {
      await utimes(path, FIXED_TIME, FIXED_TIME);
      await flushed(path);
      await rename(path, join(folder, name));
      await flushed(folder);
    },
  };
}

/** What an operator can repair at the folder of videos; undefined for another error. */
function faultOfFolder(folder: string, error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall }: NodeJS.ErrnoException = error;
  // Node reports this when a folder cannot be made on a read-only file system.
  const cause = code === "ENOENT" && syscall === "mkdir" ? "EROFS" : code;
  switch (cause) {
    case "ENOSPC":
    case "EDQUOT":
      return storageFull(
        `the disk of ${folder}, where videos are stored, is full: free some space there, then try again`,
      );
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return storageUnwritable(
        `${folder}, where videos are stored, cannot be written (${cause}): its file system is read-only, or it belongs to another user; repair that, then try again`,
      );
    default:
      return undefined;
  }
}

async function flushed(path: string): Promise<void> {
  const file = await open(path, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** SHA-256 of a file's bytes, in hex. */
export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Stores a small file under the hash of its bytes, and returns its name below `/media/`. */
export async function keepBytes(media: MediaStorage, bytes: Uint8Array, extension: string): Promise<string> {
  const fileName = `${createHash("sha256").update(bytes).digest("hex")}.${extension}`;
  await media.withScratch(async (pathOf) => {
    await writeFile(pathOf(fileName), bytes, { mode: 0o644 });
    await media.keep(pathOf(fileName), fileName);
  });
  return fileName;
}

/** Reads the first bytes of a stream, `max` at most; the rest is not requested. */
export async function readAtMost(bytes: AsyncIterable<Uint8Array>, max: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    chunks.push(chunk);
    length += chunk.byteLength;
    if (length >= max) break;
  }
  return Buffer.concat(chunks).subarray(0, max);
}

type MediaPlace = { kind: "folder"; folder: string; isMadeIfMissing: boolean } | MediaBucket;

/** Opens the configured storage of videos. */
export async function openMediaStorage(media: MediaPlace): Promise<FolderStorage | BucketStorage> {
  return media.kind === "folder" ? folderStorage(media.folder) : bucketStorage(media);
}

/** Throws a `StartFault` if the configured folder does not exist. A bucket is accessed on first use. */
export async function requireMediaFolder(media: MediaPlace): Promise<void> {
  if (media.kind !== "folder" || media.isMadeIfMissing) return;
  const { folder } = media;
  const found = await stat(folder).catch(missingAsUndefined);
  if (!found?.isDirectory()) {
    throw new StartFault(`the folder ${folder} of MEDIA_DIR does not exist: mount or make it, or correct MEDIA_DIR`);
  }
  await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
}

function missingAsUndefined(error: unknown): undefined {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
  throw error;
}

/** A bucket of an S3-compatible service. It may be private: the ad service serves its files. */
export interface MediaBucket {
  kind: "bucket";
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** A file of the bucket, or its requested range; or that it is missing, unchanged, or shorter. */
export type StoredPart =
  | { outcome: "found"; body: Readable; byteLength: number; range: string | undefined; etag: string | undefined }
  | { outcome: "missing" }
  | { outcome: "not-modified" }
  | { outcome: "range-not-satisfiable" };

export interface BucketStorage extends MediaStorage {
  kind: "bucket";
  read(name: string, request: { range?: string | undefined; ifNoneMatch?: string | undefined }): Promise<StoredPart>;
}

const mediaTypes: Record<string, string> = {
  ".mp4": "video/mp4",
  ".webm": "video/webm",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
  ".vtt": "text/vtt; charset=utf-8",
};

export async function bucketStorage(at: MediaBucket): Promise<BucketStorage> {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = at;
  // The S3 client is large: it is loaded only if a bucket is configured.
  const { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } = await import("@aws-sdk/client-s3");
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    // The bucket is part of the path: host names are the provider's own, and not every provider has one per bucket.
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 5000, socketTimeout: 15_000 },
  });
  return {
    kind: "bucket",
    uploadsFolder: join(tmpdir(), "intermission-uploads"),
    place: `the bucket ${bucket} at ${endpoint}`,
    async has(name) {
      try {
        await client.send(new HeadObjectCommand({ Bucket: bucket, Key: name }));
        return true;
      } catch (error) {
        if (outcomeOf(error) === "missing") return false;
        throw new Error("the media bucket could not be read", { cause: error });
      }
    },
    async withScratch(work) {
      let scratch: string | undefined;
      try {
        scratch = await mkdtemp(join(tmpdir(), "intermission-upload-"));
        const made = scratch;
        return await work((name) => join(made, name));
      } catch (error) {
        throw faultOfFolder(tmpdir(), error) ?? error;
      } finally {
        if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
      }
    },
    async keep(path, name) {
      await client.send(
        new PutObjectCommand({
          Bucket: bucket,
          Key: name,
          Body: createReadStream(path),
          ContentLength: (await stat(path)).size,
          ContentType: mediaTypes[extname(name)] ?? "application/octet-stream",
          CacheControl: "public, max-age=31536000, immutable",
        }),
      );
    },
    async read(name, { range, ifNoneMatch }) {
      try {
        const found = await client.send(
          new GetObjectCommand({ Bucket: bucket, Key: name, Range: range, IfNoneMatch: ifNoneMatch }),
        );
        if (!found.Body || found.ContentLength === undefined) throw new Error("the bucket returned no body");
        const { ContentLength: byteLength, ContentRange, ETag: etag } = found;
        return { outcome: "found", body: found.Body as Readable, byteLength, range: ContentRange, etag };
      } catch (error) {
        const outcome = outcomeOf(error);
        if (outcome) return { outcome };
        throw new Error("the media bucket could not be read", { cause: error });
      }
    },
  };
}

function outcomeOf(error: unknown): Exclude<StoredPart["outcome"], "found"> | undefined {
  // Each error of the service has this; faults of the network do not.
  const status = (error as Partial<S3ServiceException>).$metadata?.httpStatusCode;
  if (status === 404) return "missing";
  if (status === 304) return "not-modified";
  return status === 416 ? "range-not-satisfiable" : undefined;
}
