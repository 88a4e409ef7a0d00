import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
import { Readable } from "node:stream";
import type { S3ServiceException } from "@aws-sdk/client-s3";
import { refusal, storageUnwritable } from "@intermission/server/refuse";
import { BucketFault, faultOfBucket, faultOfLoss, requireEntityTag } from "./bucket-faults.ts";
import { withRetries } from "./bucket-retries.ts";
import type { BytePart } from "./byte-range.ts";
import { faultOfFolder, type MediaStorage } from "./media-storage.ts";

/** A bucket of an S3-compatible service. It may be private: the ad service serves its files. */
export interface MediaBucket {
  kind: "bucket";
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface BucketStorage extends MediaStorage {
  kind: "bucket";
}

const mediaTypes: Record<string, string> = {
  ".mp4": "video/mp4",
  ".webm": "video/webm",
  ".jpg": "image/jpeg",
  ".png": "image/png",
  ".webp": "image/webp",
  ".vtt": "text/vtt; charset=utf-8",
};

/** The client is large: it is loaded only if a bucket is configured. */
type S3 = typeof import("@aws-sdk/client-s3");

interface OpenBucket {
  at: MediaBucket;
  client: InstanceType<S3["S3Client"]>;
  commands: Pick<S3, "GetObjectCommand" | "PutObjectCommand">;
}

export async function bucketStorage(
  at: MediaBucket,
  { pausesMs }: { pausesMs?: readonly number[] } = {},
): Promise<BucketStorage> {
  const opened = await openBucket(at);
  // Files never change, so that one answer serves all readers of a file.
  const lengths = new Map<string, number>();
  return {
    kind: "bucket",
    uploadsFolder: join(tmpdir(), "intermission-uploads"),
    place: `the bucket ${at.bucket} at ${at.endpoint}`,
    async has(name) {
      const found = await describe(opened, name);
      return found !== undefined && found.byteLength !== 0;
    },
    async open(name) {
      const known = lengths.get(name);
      const found = known === undefined ? await describe(opened, name) : { byteLength: known };
      if (!found) return undefined;
      const { byteLength } = found;
      if (byteLength !== undefined && known === undefined) {
        if (lengths.size >= MAX_LENGTHS) lengths.clear();
        lengths.set(name, byteLength);
      }
      return { byteLength, read: (part) => get(opened, name, part) };
    },
    withScratch,
    async keep(path, name) {
      const { size } = await stat(path);
      const { ETag: etag } = await withRetries(() => put(opened, { path, name, size }), { pausesMs });
      requireEntityTag(at, etag);
      // Something may accept all and keep nothing, as the web page of such a service.
      const kept = await withRetries(() => describe(opened, name), { pausesMs });
      if (!kept || (kept.byteLength ?? size) !== size) throw faultOfLoss(at, name);
    },
  };
}

async function openBucket(at: MediaBucket): Promise<OpenBucket> {
  const { endpoint, region, accessKeyId, secretAccessKey } = at;
  const { S3Client, ...commands } = await import("@aws-sdk/client-s3");
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
    // By default it prints to the console. What it would say is in its errors.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return { at, client, commands };
}

/** A file or a part of it. The body is to be read, or destroyed. */
async function get(
  { at, client, commands }: OpenBucket,
  name: string,
  part: BytePart | undefined,
): Promise<ObjectPart | undefined> {
  const Range = part && `bytes=${part.from}-${part.to}`;
  try {
    const found = await client.send(new commands.GetObjectCommand({ Bucket: at.bucket, Key: name, Range }));
    const body = (found.Body as Readable | undefined) ?? Readable.from([]);
    if (found.ETag === undefined) body.destroy();
    requireEntityTag(at, found.ETag);
    const isWhole = found.ContentRange === undefined;
    return { body, isWhole, byteLength: isWhole ? found.ContentLength : totalOf(found.ContentRange) };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error instanceof BucketFault ? error : faultOfBucket(at, error);
  }
}

/** The answer to HEAD would not say why it is refused, nor whether the object or the bucket is missing. */
async function describe(opened: OpenBucket, name: string): Promise<Pick<ObjectPart, "byteLength"> | undefined> {
  const found = await get(opened, name, FIRST_BYTE);
  if (!found) return undefined;
  if (found.isWhole) found.body.destroy();
  else found.body.resume();
  return found;
}

async function put(
  { at, client, commands }: OpenBucket,
  { path, name, size }: { path: string; name: string; size: number },
) {
  // A stream can be read once: each attempt has its own.
  const body = createReadStream(path);
  const object = {
    Bucket: at.bucket,
    Key: name,
    Body: body,
    ContentLength: size,
    ContentType: mediaTypes[extname(name)] ?? "application/octet-stream",
    // The file of this name is that of the log's newest checkpoint; all others never change.
    CacheControl: basename(name) === "checkpoint" ? "no-cache" : "public, max-age=31536000, immutable",
  };
  try {
    return await client.send(new commands.PutObjectCommand(object));
  } catch (error) {
    throw faultOfBucket(at, error);
  } finally {
    body.destroy();
  }
}

interface ObjectPart {
  body: Readable;
  isWhole: boolean;
  /** Of the whole file. */
  byteLength: number | undefined;
}

const FIRST_BYTE: BytePart = { from: 0, to: 0 };
const MAX_LENGTHS = 10_000;

/** The length of the whole file, of `bytes 0-0/1234`; services may send `*` for it. */
function totalOf(contentRange: string | undefined): number | undefined {
  const total = /\/(\d+)$/.exec(contentRange ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

/** Files for an upload are on this machine. */
async function withScratch<Result>(work: (pathOf: (name: string) => string) => Promise<Result>): Promise<Result> {
  let scratch: string | undefined;
  try {
    scratch = await mkdtemp(join(tmpdir(), "intermission-upload-"));
    const made = scratch;
    return await work((name) => join(made, name));
  } catch (error) {
    if (error instanceof BucketFault) throw refusalOf(error);
    throw faultOfFolder(tmpdir(), error) ?? error;
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

const RETRY_SECONDS = 10;

function refusalOf({ message, isAway }: BucketFault): Error {
  if (!isAway) return storageUnwritable(message);
  const headers = { "retry-after": String(RETRY_SECONDS) };
  return refusal(503, "UNAVAILABLE", `${message}. Nothing was stored; then repeat the request`, { headers });
}

function isMissing(error: unknown): boolean {
  // Each error of the service has this; faults of the network do not.
  const { name, $metadata } = error as Partial<S3ServiceException>;
  // An empty object has no first byte.
  return ($metadata?.httpStatusCode === 404 && name !== "NoSuchBucket") || $metadata?.httpStatusCode === 416;
}
