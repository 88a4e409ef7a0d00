import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { answerUnreadable } from "./answer-errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Time for a body of this route to arrive completely after the `onRequest` hooks; longer than for other bodies. */
    bodyTimeoutMs?: number;
    /** Time for the answer after the body has arrived, where it takes longer than the timeout of a silent connection. */
    answerTimeoutMs?: number;
  }
}

/** Bounds the time of each body. Node's `requestTimeout` is the same for all routes; routes for large files need more. */
export function boundBodyTime(app: FastifyInstance, bodyTimeoutMs: number): void {
  const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();
  /** Requests whose headers arrived in this turn of the event loop. */
  let begun: IncomingMessage[] = [];

  function bound(raw: IncomingMessage, milliseconds: number): void {
    // A body that has arrived and only waits to be read is not late.
    const late = () => {
      if (!raw.complete) answerUnreadable(new LateBodyError(), raw.socket);
    };
    const before = timers.get(raw);
    timers.set(raw, setTimeout(late, milliseconds).unref());
    clearTimeout(before);
    const inTime = () => clearTimeout(timers.get(raw));
    if (!before) raw.once("end", inTime).once("close", inTime);
  }

  // Nearly every body arrives with its headers, so it is complete by now and needs no timer.
  function boundThoseStillComing(): void {
    const some = begun;
    begun = [];
    for (const raw of some) if (isComing(raw) && !timers.has(raw)) bound(raw, bodyTimeoutMs);
  }

  app.addHook("onRequest", (request, _reply, done) => {
    if (isComing(request.raw) && begun.push(request.raw) === 1) setImmediate(boundThoseStillComing);
    done();
  });
  // After all `onRequest` hooks: a caller that may not use the route gets no extra time.
  app.addHook("preParsing", (request, _reply, payload, done) => {
    const { raw } = request;
    const { bodyTimeoutMs: ofRoute, answerTimeoutMs } = request.routeOptions.config;
    if (ofRoute !== undefined && isComing(raw)) bound(raw, ofRoute);
    if (answerTimeoutMs !== undefined && raw.socket instanceof Socket) {
      raw.once("end", () => raw.socket.setTimeout(answerTimeoutMs));
    }
    done(null, payload);
  });
}

function isComing(raw: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = raw.headers;
  // An injected request has no socket, and its body is complete.
  return (
    (length !== undefined || encoding !== undefined) && !raw.complete && !raw.destroyed && raw.socket instanceof Socket
  );
}

class LateBodyError extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}
