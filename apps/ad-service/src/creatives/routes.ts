import { mkdir } from "node:fs/promises";
import fastifyStatic from "@fastify/static";
import type { FastifyError, FastifyInstance } from "fastify";

const MEDIA_FILE = /^[0-9a-f]{64}\.(mp4|webm|jpg|png|webp)$/;

/** `GET /media/{sha256}.{ext}`: the name is the hash of the bytes, so whoever has them may keep them for ever. */
export function mediaRoutes(app: FastifyInstance, deps: { mediaDir: string }): void {
  app.register(async (scope) => {
    await mkdir(deps.mediaDir, { recursive: true });
    await scope.register(fastifyStatic, { root: deps.mediaDir, serve: false });
    scope.setErrorHandler((error: FastifyError & { headers?: Record<string, string> }, _request, reply) => {
      // A player learns from it how long the file is, and asks again.
      if (error.statusCode === 416) reply.headers(error.headers ?? {});
      throw error;
    });
    scope.get<{ Params: { file: string } }>("/media/:file", async (request, reply) => {
      reply.header("access-control-allow-origin", "*");
      reply.header("cross-origin-resource-policy", "cross-origin");
      reply.header("x-content-type-options", "nosniff");
      reply.header("content-security-policy", "sandbox; default-src 'none'");
      if (!MEDIA_FILE.test(request.params.file)) return reply.callNotFound();
      return reply.sendFile(request.params.file, { maxAge: "365d", immutable: true });
    });
  });
}
