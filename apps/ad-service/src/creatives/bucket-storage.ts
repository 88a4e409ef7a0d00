import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { Readable } from "node:stream";
import type { S3ServiceException } from "@aws-sdk/client-s3";
import { storageUnwritable } from "@intermission/server/refuse";
import { BucketFault, faultOfBucket, faultOfLoss, requireEntityTag } from "./bucket-faults.ts";
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

/** A file of the bucket, or its requested range; or that it is missing, unchanged, or shorter. */
export type StoredPart =
  | { outcome: "found"; body: Readable; byteLength: number; range: string | undefined; etag: string | undefined }
  | { outcome: "missing" }
  | { outcome: "not-modified" }
  | { outcome: "range-not-satisfiable" };

interface PartRequest {
  range?: string | undefined;
  ifNoneMatch?: string | undefined;
  /** Only what is known of the file: the body is empty. */
  isHead?: boolean | undefined;
}

export interface BucketStorage extends MediaStorage {
  kind: "bucket";
  read(name: string, request: PartRequest): Promise<StoredPart>;
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
    // By default it prints to the console. What it would say is in its errors.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  async function read(name: string, { range, ifNoneMatch, isHead = false }: PartRequest): Promise<StoredPart> {
    try {
      if (isHead) {
        const head = new HeadObjectCommand({ Bucket: bucket, Key: name, IfNoneMatch: ifNoneMatch });
        const { ContentLength: byteLength = 0, ETag: etag } = await client.send(head);
        return { outcome: "found", body: Readable.from([]), byteLength, range: undefined, etag };
      }
      const found = await client.send(
        new GetObjectCommand({ Bucket: bucket, Key: name, Range: range, IfNoneMatch: ifNoneMatch }),
      );
      const { ContentLength: byteLength, ContentRange, ETag: etag } = found;
      const body = found.Body as Readable | undefined;
      if (!body || byteLength === undefined || etag === undefined) {
        body?.destroy();
        requireEntityTag(at, etag);
        throw new Error("the bucket returned no body");
      }
      return { outcome: "found", body, byteLength, range: ContentRange, etag };
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome) return { outcome };
      throw error instanceof BucketFault ? error : faultOfBucket(at, error);
    }
  }
  return {
    kind: "bucket",
    uploadsFolder: join(tmpdir(), "intermission-uploads"),
    place: `the bucket ${bucket} at ${endpoint}`,
    // The answer to HEAD would not say why it is refused, nor whether the object or the bucket is missing.
    async has(name) {
      const part = await read(name, { range: "bytes=0-0" });
      return part.outcome !== "missing" && lengthOf(part) !== 0;
    },
    withScratch,
    async keep(path, name) {
      const { size: ContentLength } = await stat(path);
      const put = new PutObjectCommand({
        Bucket: bucket,
        Key: name,
        Body: createReadStream(path),
        ContentLength,
        ContentType: mediaTypes[extname(name)] ?? "application/octet-stream",
        CacheControl: "public, max-age=31536000, immutable",
      });
      const { ETag: etag } = await client.send(put).catch((error: unknown) => {
        throw faultOfBucket(at, error);
      });
      requireEntityTag(at, etag);
      // Something may accept all and keep nothing, as the web page of such a service.
      if (lengthOf(await read(name, { range: "bytes=0-0" })) !== ContentLength) throw faultOfLoss(at, name);
    },
    read,
  };
}
/** Files for an upload are on this machine. */
async function withScratch<Result>(work: (pathOf: (name: string) => string) => Promise<Result>): Promise<Result> {
  let scratch: string | undefined;
  try {
    scratch = await mkdtemp(join(tmpdir(), "intermission-upload-"));
    const made = scratch;
    return await work((name) => join(made, name));
  } catch (error) {
    if (error instanceof BucketFault) throw storageUnwritable(error.message);
    throw faultOfFolder(tmpdir(), error) ?? error;
  } finally {
    if (scratch !== undefined) await rm(scratch, { recursive: true, force: true });
  }
}

/** The length of the whole file of which the first byte was requested, and which is not read further; 0 if there is none. */
function lengthOf(part: StoredPart): number {
  if (part.outcome !== "found") return 0;
  if (part.byteLength === 1) part.body.resume();
  else part.body.destroy();
  // A service without ranges answers the whole file.
  return part.range === undefined ? part.byteLength : Number(part.range.split("/")[1]);
}

function outcomeOf(error: unknown): Exclude<StoredPart["outcome"], "found"> | undefined {
  // Each error of the service has this; faults of the network do not.
  const status = (error as Partial<S3ServiceException>).$metadata?.httpStatusCode;
  if (status === 404 && (error as Partial<S3ServiceException>).name !== "NoSuchBucket") return "missing";
  if (status === 304) return "not-modified";
  return status === 416 ? "range-not-satisfiable" : undefined;
}
