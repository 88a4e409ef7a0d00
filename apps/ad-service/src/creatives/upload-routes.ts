import type { Readable } from "node:stream";
import { conflict, notFound } from "@intermission/server/refuse";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { findUpload, handleUpload, isUploadOf, type ResumableUploads, UPLOADS_PATH } from "./resumable-uploads.ts";

/** Of one request: a part of a file. */
const PART_MS = 15 * 60_000;

export interface UploadDeps {
  resumable: ResumableUploads;
  /** Who makes a request: the id of a person, or that of the command line. */
  callerOf(request: FastifyRequest): string;
}

/**
 * `/uploads`, by tus: `POST` begins an upload, `HEAD` says how far it is, `PATCH` continues it, `DELETE` removes it. The guard
 * applies the rule of `uploadVideo`; another person's upload is answered as unknown.
 */
export function resumableUploadRoutes(scope: FastifyInstance, { resumable, callerOf }: UploadDeps): void {
  // tus reads the bytes itself.
  scope.addContentTypeParser("application/offset+octet-stream", (_request, _payload, done) => done(null));
  const shared = { config: { operation: "uploadVideo", bodyTimeoutMs: PART_MS }, schema: { hide: true } };
  scope.route({
    ...shared,
    method: "POST",
    url: UPLOADS_PATH,
    handler: async (request, reply) => {
      reply.hijack();
      await handleUpload(resumable, { person: callerOf(request), request: request.raw, response: reply.raw });
    },
  });
  scope.route<{ Params: { uploadId: string } }>({
    ...shared,
    method: ["HEAD", "PATCH", "DELETE"],
    url: `${UPLOADS_PATH}/:uploadId`,
    handler: async (request, reply) => {
      const { uploadId } = request.params;
      requireOwnUpload({ callerOf }, { uploadId, http: request });
      reply.hijack();
      await handleUpload(resumable, { person: callerOf(request), request: request.raw, response: reply.raw });
    },
  });
}

/** Refuses another person's upload with 404. */
export function requireOwnUpload(
  { callerOf }: Pick<UploadDeps, "callerOf">,
  { uploadId, http }: { uploadId: string; http: FastifyRequest },
): void {
  if (!isUploadOf(uploadId, callerOf(http))) throw unknownUpload(uploadId);
}

/** The bytes of a caller's finished upload; throws 404 or 409. */
export async function requireFinishedUpload(
  { resumable, callerOf }: UploadDeps,
  { uploadId, http }: { uploadId: string; http: FastifyRequest },
): Promise<Readable> {
  const found = await findUpload(resumable, { person: callerOf(http), uploadId });
  if (found.outcome === "unknown") throw unknownUpload(uploadId);
  if (found.outcome === "finished") return found.bytes;
  const [sent, of] = [String(found.sent), String(found.byteLength ?? "an unknown number of")];
  throw conflict("UPLOAD_UNFINISHED", `${sent} of ${of} bytes have arrived: send the rest first`, { sent });
}

export function unknownUpload(uploadId: string) {
  return notFound(`there is no upload ${uploadId}: it was finished, or removed after a day; upload the file again`);
}
