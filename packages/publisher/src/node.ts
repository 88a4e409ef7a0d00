import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Makes a listener for `node:http`, and a handler for Express, of a handler that takes a `Request`. Mount it before any
 * parser of bodies: the signature covers the bytes as they arrive.
 */
export function toNodeHandler(
  handler: (request: Request) => Promise<Response>,
): (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> {
  return async (incoming, outgoing) => {
    const { method = "GET", headers } = incoming;
    const hasBody = method !== "GET" && method !== "HEAD";
    const request = new Request("http://localhost/", {
      method,
      headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        [value ?? []].flat().map((one) => [name, one]),
      ),
      ...(hasBody && { body: streamOf(incoming), duplex: "half" }),
    });
    const response = await handler(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  };
}

function streamOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  if (incoming.readableEnded) throw new Error("the body was read before: mount the webhook before any body parser");
  return ReadableStream.from(incoming);
}
