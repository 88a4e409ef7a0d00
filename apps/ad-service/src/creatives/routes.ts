import { mkdir } from "node:fs/promises";
import fastifyStatic from "@fastify/static";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BucketStorage } from "./bucket-storage.ts";
import type { FolderStorage } from "./media-storage.ts";

const MEDIA_FILE = /^[0-9a-f]{64}\.(mp4|webm|jpg|png|webp|vtt)$/;

/** `GET /media/{sha256}.{ext}`: the name is the hash of the bytes, so clients may cache the file forever. */
export function mediaRoutes(app: FastifyInstance, { media }: { media: FolderStorage | BucketStorage }): void {
  app.register(async (scope) => {
    if (media.kind === "folder") await serveFolder(scope, media.folder);
    scope.get<{ Params: { file: string } }>("/media/:file", async (request, reply) => {
      const { file } = request.params;
      reply.header("access-control-allow-origin", "*");
      reply.header("cross-origin-resource-policy", "cross-origin");
      reply.header("x-content-type-options", "nosniff");
      reply.header("content-security-policy", "sandbox; default-src 'none'");
      if (!MEDIA_FILE.test(file)) return reply.callNotFound();
      if (media.kind === "folder") return reply.sendFile(file, { maxAge: "365d", immutable: true });
      return sendFromBucket(media, file, request, reply);
    });
  });
}

async function serveFolder(scope: FastifyInstance, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await scope.register(fastifyStatic, { root: folder, serve: false });
  scope.setErrorHandler((error: FastifyError & { headers?: Record<string, string> }, _request, reply) => {
    // A player reads the file's length from these headers and requests again.
    if (error.statusCode === 416) reply.headers(error.headers ?? {});
    throw error;
  });
}

async function sendFromBucket(media: BucketStorage, file: string, request: FastifyRequest, reply: FastifyReply) {
  const { range, "if-none-match": ifNoneMatch } = request.headers;
  // The server drops the body of an answer to HEAD, after it has read it.
  const part = await media.read(file, { range, ifNoneMatch, isHead: request.method === "HEAD" });
  if (part.outcome === "missing") return reply.callNotFound();
  reply.header("accept-ranges", "bytes").header("cache-control", "public, max-age=31536000, immutable");
  if (part.outcome === "not-modified") return reply.code(304).send();
  if (part.outcome === "range-not-satisfiable") return reply.code(416).send();
  if (part.etag !== undefined) reply.header("etag", part.etag);
  if (part.range !== undefined) reply.header("content-range", part.range);
  reply.type(typeOf(file)).header("content-length", part.byteLength);
  return reply.code(part.range === undefined ? 200 : 206).send(part.body);
}

function typeOf(file: string): string {
  const [, extension = ""] = file.split(".");
  if (extension === "vtt") return "text/vtt; charset=utf-8";
  const video = extension === "mp4" || extension === "webm";
  return `${video ? "video" : "image"}/${extension === "jpg" ? "jpeg" : extension}`;
}
