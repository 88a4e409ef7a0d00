import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { answerUnreadable } from "./answer-errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** For the body of this route to arrive whole, once its caller passed the `onRequest` hooks: longer than other bodies have. */
    bodyTimeoutMs?: number;
    /** For the answer once the body is there, where making it takes longer than a silent connection otherwise lives. */
    answerTimeoutMs?: number;
  }
}

/** Node's `requestTimeout` is one for all routes; a route for large files has its own bounds here. */
export function boundBodyTime(app: FastifyInstance, bodyTimeoutMs: number): void {
  const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();
  /** Their heads came in this turn of the event loop. */
  let begun: IncomingMessage[] = [];

  function bound(raw: IncomingMessage, milliseconds: number): void {
    // A body that is here, and only waits to be read, is not late.
    const late = () => {
      if (!raw.complete) answerUnreadable(new LateBodyError(), raw.socket);
    };
    const before = timers.get(raw);
    timers.set(raw, setTimeout(late, milliseconds).unref());
    clearTimeout(before);
    const inTime = () => clearTimeout(timers.get(raw));
    if (!before) raw.once("end", inTime).once("close", inTime);
  }

  // Nearly every body comes with its head and is here by then: it needs no timer.
  function boundThoseStillComing(): void {
    const some = begun;
    begun = [];
    for (const raw of some) if (isComing(raw) && !timers.has(raw)) bound(raw, bodyTimeoutMs);
  }

  app.addHook("onRequest", (request, _reply, done) => {
    if (isComing(request.raw) && begun.push(request.raw) === 1) setImmediate(boundThoseStillComing);
    done();
  });
  // After all `onRequest` hooks: who may not call the route has no more time than anybody.
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
  // An injected request has no socket, and comes whole.
  return (
    (length !== undefined || encoding !== undefined) && !raw.complete && !raw.destroyed && raw.socket instanceof Socket
  );
}

class LateBodyError extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}
