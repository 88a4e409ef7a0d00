import type { ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";

/** A reader that takes nothing for this long is gone, or cannot follow. It resumes from its cursor. */
const MAX_SILENT_MS = 20_000;

/**
 * Closes event streams whose reader takes nothing: each holds a page of the ledger and its buffers, and would hold them for
 * as long as the connection stays open.
 */
export function closeSlowWatches(
  app: FastifyInstance,
  { maxSilentMs = MAX_SILENT_MS }: { maxSilentMs?: number | undefined },
): void {
  const streams = new Map<ServerResponse, { drainedAt: number }>();
  const timer = setInterval(() => {
    const silentSince = performance.now() - maxSilentMs;
    for (const [response, { drainedAt }] of streams) {
      if (!response.writableNeedDrain) streams.set(response, { drainedAt: performance.now() });
      else if (drainedAt <= silentSince) {
        app.log.info({ bufferedBytes: response.writableLength }, "a watch was closed: its reader takes nothing");
        response.destroy();
      }
    }
  }, maxSilentMs / 4).unref();
  app.addHook("onSend", (_request, reply, payload, done) => {
    // tRPC answers with a web Response, whose headers are not the reply's yet.
    const type = payload instanceof Response ? payload.headers.get("content-type") : null;
    if (type?.startsWith("text/event-stream")) follow(reply.raw);
    done(null, payload);
  });
  function follow(response: ServerResponse): void {
    streams.set(response, { drainedAt: performance.now() });
    response.on("drain", () => streams.set(response, { drainedAt: performance.now() }));
    response.once("close", () => {
      response.removeAllListeners("drain");
      streams.delete(response);
    });
  }
  app.addHook("onClose", async () => clearInterval(timer));
}
