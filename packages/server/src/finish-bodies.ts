import type { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** A body that an answer did not need is read up to this many bytes and milliseconds, so that the connection can be kept. */
const MAX_DRAINED_BYTES = 8 * 1024 * 1024;
const MAX_DRAIN_MS = 2000;

/**
 * The one place for bodies that were not read to their end, such as a picture that is too large: the rest is read and dropped,
 * and the connection carries the next request. A longer rest is not read: the answer says `Connection: close`. Otherwise the
 * rest would stay in front of the next request, which would wait until the connection times out.
 */
export function finishBodies(app: FastifyInstance): void {
  // With a callback, since nearly all answers have nothing to wait for.
  app.addHook("onSend", ({ raw }, reply, payload, done) => {
    if (!isLeft(raw) || reply.getHeader("connection") === "close") return done(null, payload);
    void isDrained(raw).then((isEmpty) => {
      if (!isEmpty) reply.header("connection", "close");
      done(null, payload);
    });
  });
}

/** The bytes of a body, for a reader that may stop early: the request stays, so that it can be answered. */
export function bodyBytes(body: NodeJS.ReadableStream & AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return "iterator" in body && typeof body.iterator === "function" ? body.iterator({ destroyOnReturn: false }) : body;
}

/** A part was read. Of a body that nobody began to read, Node drops all. */
function isLeft(raw: IncomingMessage): boolean {
  // An injected request has no socket, and nothing waits behind it.
  return raw.readableDidRead && !raw.readableEnded && !raw.destroyed && raw.socket instanceof Socket;
}

function isDrained(raw: IncomingMessage): Promise<boolean> {
  const declared = Number(raw.headers["content-length"] ?? 0);
  if (declared > 4 * MAX_DRAINED_BYTES) return Promise.resolve(false);
  return new Promise((resolve) => {
    let bytes = 0;
    const end = (isEnded: boolean) => {
      clearTimeout(timer);
      raw.off("data", count).off("end", onEnd).off("close", onClose).off("error", onClose);
      if (!isEnded) raw.pause();
      resolve(isEnded);
    };
    const count = (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > MAX_DRAINED_BYTES) end(false);
    };
    const onEnd = () => end(true);
    const onClose = () => end(false);
    const timer = setTimeout(onClose, MAX_DRAIN_MS);
    raw.on("data", count).once("end", onEnd).once("close", onClose).once("error", onClose);
    raw.resume();
  });
}
