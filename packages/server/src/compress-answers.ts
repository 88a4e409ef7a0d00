import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";

/** A shorter answer fits in one packet anyway. */
const MIN_BYTES = 1024;

const encoders = {
  // Higher levels take several times as long for a few percent.
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (text: string) => promisify(gzip)(text, { level: 6 }),
};
type Encoding = keyof typeof encoders;

/**
 * Compresses the texts that the routes of a scope answer to GET, for clients that take it; a proxy passes them on as they are.
 * Only for routes whose answers no page of another origin can request with a secret in them, since the length of a compressed
 * answer tells of its contents.
 */
export function compressAnswers(scope: FastifyInstance): void {
  scope.addHook("onSend", async (request, reply, payload) => {
    if (request.method !== "GET" || typeof payload !== "string" || payload.length < MIN_BYTES) return payload;
    reply.header("vary", "accept-encoding");
    const encoding = encodingFor(request.headers["accept-encoding"]);
    if (encoding === undefined || reply.hasHeader("content-encoding")) return payload;
    reply.header("content-encoding", encoding).removeHeader("content-length");
    return encoders[encoding](payload);
  });
}

/** The best encoding that a client takes: one with the quality 0 is refused. */
function encodingFor(accepted: string | string[] | undefined): Encoding | undefined {
  const taken = String(accepted ?? "")
    .split(",")
    .map((word) => word.trim().toLowerCase())
    .filter((word) => !/;\s*q=0(\.0*)?$/.test(word))
    .map((word) => word.split(";")[0]);
  return (["br", "gzip"] as const).find((encoding) => taken.includes(encoding));
}
