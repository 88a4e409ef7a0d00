import type { IncomingMessage, ServerResponse } from "node:http";

export { fileStore } from "./file-store.ts";
export { readSecret } from "./read-secret.ts";

/**
 * A request of node:http, or of Express, which adds `originalUrl`, and whose parsers add `body`. NestJS with `rawBody: true`,
 * Cloud Functions, and `express.json({ verify })` keep the bytes as `rawBody`.
 */
type NodeRequest = IncomingMessage & {
  readonly body?: unknown | undefined;
  readonly rawBody?: unknown | undefined;
  readonly originalUrl?: string | undefined;
};

/** A receiver that is set up wrongly, whatever was sent. Its text has no value of a request or a setting. */
class SetupError extends TypeError {}

const webhookNeeded =
  "toNodeHandler needs the handler that webhook() returns, which answers a Response: toNodeHandler(webhook(handle, { tokens }))";

/**
 * Adapts a handler that takes a `Request` to node:http, Express and Fastify. The signature covers the bytes as they arrived,
 * so mount it before any body parser, or behind one that keeps the bytes: as `body`, such as `express.raw({ type: "*\/*" })`, or
 * as `rawBody`.
 *
 * An error goes to `next`, which Express passes; without `next` it is logged and answered 500, with its cause if the handler is
 * mounted wrongly.
 */
export function toNodeHandler(
  handler: (request: Request) => Promise<Response>,
): (incoming: NodeRequest, outgoing: ServerResponse, next?: (error: unknown) => void) => Promise<void> {
  if (typeof handler !== "function") throw new TypeError(webhookNeeded);
  return async (incoming, outgoing, next) => {
    try {
      // A `Request` cannot have these methods (Fetch standard, 5.4).
      if (/^(connect|trace|track)$/i.test(incoming.method ?? ""))
        return void outgoing.writeHead(405, { allow: "POST" }).end();
      const response = await handler(toRequest(incoming));
      if (typeof response?.arrayBuffer !== "function") throw new SetupError(webhookNeeded);
      const body = new Uint8Array(await response.arrayBuffer());
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body);
    } catch (error) {
      // A request that broke off gets no answer, and anyone could fill the log with such requests.
      if (incoming.destroyed && !incoming.complete) return;
      if (next) return next(error);
      console.error("the webhook's handler failed:", error instanceof SetupError ? error.message : error);
      if (outgoing.headersSent) return void outgoing.destroy();
      const fault =
        error instanceof SetupError
          ? { code: "NOT_CONFIGURED", message: error.message }
          : { code: "NOT_HANDLED", message: "the request could not be handled; send it again" };
      outgoing.writeHead(500, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ error: fault }));
    }
  };
}

function toRequest(incoming: NodeRequest): Request {
  const { method = "GET" } = incoming;
  // HTTP/2 puts method and path among the headers, as ":method", which a `Request` cannot have.
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    name.startsWith(":") ? [] : [value ?? []].flat().map((one) => [name, one]),
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  // Express removes the mount path from `url`.
  const path = incoming.originalUrl ?? incoming.url ?? "/";
  return new Request(`http://localhost${path.startsWith("/") ? path : "/"}`, {
    method,
    headers,
    ...(hasBody && { body: bodyOf(incoming), duplex: "half" }),
  });
}

function bodyOf(incoming: NodeRequest): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  for (const kept of [incoming.rawBody, incoming.body]) {
    // Not `instanceof`: Jest's tests have a `Uint8Array` of their own, and Node's buffers another one.
    if (ArrayBuffer.isView(kept)) return new Uint8Array(kept.buffer, kept.byteOffset, kept.byteLength).slice();
    if (typeof kept === "string") return new TextEncoder().encode(kept);
  }
  // Parsers of Express leave {} as the body of a request that they did not read.
  const isParsed = Object.keys(Object(incoming.body)).length > 0;
  if (incoming.readableDidRead || isParsed) {
    throw new SetupError(
      'a body parser has read the webhook, and its signature covers the raw bytes: mount the webhook before the parser (app.use(express.json()) for example), give its route express.raw({ type: "*/*" }), keep the bytes as req.rawBody (NestJS: rawBody: true), or turn the parser off (Next, pages/api: config.api.bodyParser: false)',
    );
  }
  let isCancelled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      incoming.on("data", (chunk: Uint8Array) => {
        if (isCancelled) return;
        controller.enqueue(chunk);
        incoming.pause();
      });
      incoming.once("end", () => isCancelled || controller.close());
      incoming.once("error", (error) => isCancelled || controller.error(error));
      incoming.pause();
    },
    pull: () => void incoming.resume(),
    // The rest is read and dropped, so that the answer arrives and the connection stays usable.
    cancel() {
      isCancelled = true;
      incoming.resume();
    },
  });
}
