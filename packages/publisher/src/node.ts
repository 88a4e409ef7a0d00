import type { IncomingMessage, ServerResponse } from "node:http";

/** A request of node:http, or of Express, whose parsers add `body`. */
type NodeRequest = IncomingMessage & { readonly body?: unknown };

/**
 * Adapts a handler that takes a `Request` to node:http, Express and Fastify. The signature covers the bytes as they arrived,
 * so mount it before any body parser, or behind one that keeps the bytes, such as `express.raw({ type: "*\/*" })`.
 *
 * An error goes to `next`, which Express passes; without `next` it is logged and answered 500.
 */
export function toNodeHandler(
  handler: (request: Request) => Promise<Response>,
): (incoming: NodeRequest, outgoing: ServerResponse, next?: (error: unknown) => void) => Promise<void> {
  return async (incoming, outgoing, next) => {
    try {
      const response = await handler(toRequest(incoming));
      const body = new Uint8Array(await response.arrayBuffer());
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body);
    } catch (error) {
      if (next) return next(error);
      console.error("the webhook's handler failed:", error);
      if (outgoing.headersSent) return void outgoing.destroy();
      const message = "the request could not be handled; send it again";
      outgoing.writeHead(500, { "content-type": "application/json" });
      outgoing.end(JSON.stringify({ error: { code: "NOT_HANDLED", message } }));
    }
  };
}

function toRequest(incoming: NodeRequest): Request {
  const { method = "GET" } = incoming;
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    [value ?? []].flat().map((one) => [name, one]),
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request("http://localhost/", {
    method,
    headers,
    ...(hasBody && { body: bodyOf(incoming), duplex: "half" }),
  });
}

function bodyOf(incoming: NodeRequest): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (incoming.body instanceof Uint8Array) return Uint8Array.from(incoming.body);
  if (incoming.readableDidRead) {
    throw new Error(
      'a body parser has read the webhook, and its signature covers the raw bytes: mount the webhook before the parser (app.use(express.json()) for example), or give its route express.raw({ type: "*/*" })',
    );
  }
  // Without `destroyOnReturn: false` a body that is too large would close the socket before it is answered 413.
  const chunks = incoming.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
