import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { answerUnreadable } from "./answer-errors.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** For the body of this route to arrive whole, where it may take longer than the server's other bodies. */
    bodyTimeoutMs?: number;
  }
}

/** Node's `requestTimeout` is one for all routes, a route for large files has its own bound here. */
export function boundBodyTime(app: FastifyInstance, bodyTimeoutMs: number): void {
  app.addHook("onRequest", (request, _reply, done) => {
    const { raw } = request;
    const hasBody = raw.headers["content-length"] !== undefined || raw.headers["transfer-encoding"] !== undefined;
    // An injected request has no socket, and comes whole.
    if (hasBody && !raw.complete && raw.socket instanceof Socket) {
      const late = () => answerUnreadable(new LateBodyError(), raw.socket);
      const timer = setTimeout(late, request.routeOptions.config.bodyTimeoutMs ?? bodyTimeoutMs).unref();
      const inTime = () => clearTimeout(timer);
      raw.once("end", inTime).once("close", inTime);
    }
    done();
  });
}

class LateBodyError extends Error {
  readonly code = "ERR_HTTP_REQUEST_TIMEOUT";
}
