import { createReadStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Readable } from "node:stream";
import { GetObjectCommand, PutObjectCommand, S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import type { MediaStorage } from "./media-storage.ts";

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
  ...{ ".mp4": "video/mp4", ".webm": "video/webm" },
  ...{ ".jpg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".vtt": "text/vtt; charset=utf-8" },
};

export function bucketStorage(at: MediaBucket): BucketStorage {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = at;
  const client = new S3Client({
    ...{ endpoint, region, credentials: { accessKeyId, secretAccessKey } },
    // The bucket is part of the path: host names are the provider's own, and not every provider has one per bucket.
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 5000, socketTimeout: 15_000 },
  });
  return {
    kind: "bucket",
    async withScratch(work) {
      const scratch = await mkdtemp(join(tmpdir(), "intermission-upload-"));
      try {
        return await work((name) => join(scratch, name));
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
    async keep(path, name) {
      await client.send(
        new PutObjectCommand({
          ...{ Bucket: bucket, Key: name, Body: createReadStream(path), ContentLength: (await stat(path)).size },
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
  if (!(error instanceof S3ServiceException)) return undefined;
  const status = error.$metadata.httpStatusCode;
  if (status === 404) return "missing";
  if (status === 304) return "not-modified";
  return status === 416 ? "range-not-satisfiable" : undefined;
}
