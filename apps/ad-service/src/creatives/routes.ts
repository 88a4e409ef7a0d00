import { mkdir } from "node:fs/promises";
import { Readable } from "node:stream";
import { refusal } from "@intermission/server/refuse";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BucketFault } from "./bucket-faults.ts";
import type { BucketStorage } from "./bucket-storage.ts";
import { requestedBytes } from "./byte-range.ts";
import type { FolderStorage, StoredFile } from "./media-storage.ts";

const MEDIA_FILE = /^[0-9a-f]{64}\.(mp4|webm|jpg|png|webp|vtt)$/;

/** `GET /media/{sha256}.{ext}`: the name is the hash of the bytes, so clients may cache the file forever. */
export function mediaRoutes(app: FastifyInstance, { media }: { media: FolderStorage | BucketStorage }): void {
  app.register(async (scope) => {
    if (media.kind === "folder") await mkdir(media.folder, { recursive: true });
    scope.get<{ Params: { file: string } }>("/media/:file", async (request, reply) => {
      const { file: name } = request.params;
      reply.header("access-control-allow-origin", "*");
      reply.header("cross-origin-resource-policy", "cross-origin");
      reply.header("x-content-type-options", "nosniff");
      reply.header("content-security-policy", "sandbox; default-src 'none'");
      if (!MEDIA_FILE.test(name)) return reply.callNotFound();
      try {
        const file = await media.open(name);
        return file ? await sendFile(file, { name, request, reply }) : reply.callNotFound();
      } catch (error) {
        throw isAway(error) ? withoutDetails(error, request) : error;
      }
    });
  });
}

const RETRY_SECONDS = 2;

function isAway(error: unknown): error is BucketFault {
  return error instanceof BucketFault && error.isAway;
}

/** Viewers learn nothing of the bucket; the log does. */
function withoutDetails(error: BucketFault, request: FastifyRequest): Error {
  request.log.warn({ err: error }, "a media file could not be read");
  const headers = { "retry-after": String(RETRY_SECONDS) };
  return refusal(503, "UNAVAILABLE", "the storage of videos does not answer; retry later", { headers });
}

/** A folder and a bucket are read alike. */
async function sendFile(
  file: StoredFile,
  { name, request, reply }: { name: string; request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const { byteLength } = file;
  const etag = `"${name.split(".")[0]}"`;
  reply.header("accept-ranges", byteLength === undefined ? "none" : "bytes");
  reply.header("cache-control", "public, max-age=31536000, immutable").header("etag", etag);
  reply.header("last-modified", LAST_MODIFIED);
  const { range, "if-range": ifRange = etag, "if-none-match": ifNoneMatch } = request.headers;
  if (isListed(ifNoneMatch, etag)) return reply.code(304).send();
  reply.type(typeOf(name));
  const isHead = request.method === "HEAD";
  // A file that has changed is sent whole; RFC 9110 defines ranges for GET alone.
  const isRangeRead = !isHead && (ifRange === etag || ifRange === LAST_MODIFIED) && byteLength !== undefined;
  const requested = isRangeRead ? requestedBytes(range, byteLength) : ({ outcome: "whole" } as const);
  if (requested.outcome === "not-satisfiable") {
    // A player reads the file's length from this header, and requests again.
    const headers = { "content-range": `bytes */${byteLength}` };
    throw refusal(416, "BAD_REQUEST", "the file has no such bytes", { headers });
  }
  if (isHead) {
    if (byteLength !== undefined) reply.header("content-length", byteLength);
    // Without a body, the length would be that of none.
    return reply.send(Readable.from([]));
  }
  const found = await file.read(requested.outcome === "part" ? requested : undefined);
  if (!found) {
    reply.callNotFound();
    return reply;
  }
  const isPart = requested.outcome === "part" && !found.isWhole;
  if (isPart) reply.code(206).header("content-range", `bytes ${requested.from}-${requested.to}/${byteLength}`);
  const length = isPart ? requested.to - requested.from + 1 : byteLength;
  if (length !== undefined) reply.header("content-length", length);
  return reply.send(found.body);
}

/** The bytes of a name never change. */
const LAST_MODIFIED = new Date("2000-01-01T00:00:00Z").toUTCString();

function isListed(ifNoneMatch: string | undefined, etag: string): boolean {
  return (ifNoneMatch ?? "").split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()));
}

function typeOf(file: string): string {
  const [, extension = ""] = file.split(".");
  if (extension === "vtt") return "text/vtt; charset=utf-8";
  const video = extension === "mp4" || extension === "webm";
  return `${video ? "video" : "image"}/${extension === "jpg" ? "jpeg" : extension}`;
}
