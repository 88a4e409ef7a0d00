import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createHttpServer } from "./http-server.ts";
import { continueTrace, currentTraceparent, traceCall } from "./trace-context.ts";
import { traceRequests } from "./trace-requests.ts";

const exporter = new InMemorySpanExporter();
const remote = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const traceparent = `00-${remote.traceId}-${remote.spanId}-01`;

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }));
});
beforeEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  propagation.disable();
  context.disable();
});

/** A server whose answer is the `traceparent` that its handler runs in. */
async function openServer() {
  const app = createHttpServer({ logger: pino({ level: "silent" }), trustProxy: false });
  traceRequests(app, { continuedRoutes: ["/continued"] });
  for (const path of ["/own/:code", "/continued", "/healthz"])
    app.post(path, async () => ({ in: currentTraceparent() }));
  app.post("/fails", async () => {
    throw new Error("a secret of the handler");
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const post = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ init_data: "launch-data".repeat(2000) }),
    });
    return (await response.json()) as { in?: string | null };
  };
  return { app, post };
}

test("a request's handler runs in its span, which has the route's pattern and nothing of address, headers and body", async () => {
  const { app, post } = await openServer();
  const answer = await post("/own/4YQm3XkT7vRbN2hWpz?token=secret-token", { authorization: "Bearer secret-bearer" });
  await app.close();
  const [span, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect(answer.in).toBe(`00-${span?.spanContext().traceId}-${span?.spanContext().spanId}-01`);
  expect({ name: span?.name, attributes: span?.attributes, links: span?.links }).toEqual({
    name: "POST /own/:code",
    attributes: { "http.request.method": "POST", "http.route": "/own/:code", "http.response.status_code": 200 },
    links: [],
  });
});

test("a stranger's trace is linked, and continued only at the routes for it; a malformed one is neither", async () => {
  const { app, post } = await openServer();
  expect((await post("/own/1", { traceparent })).in).not.toContain(remote.traceId);
  expect((await post("/continued", { traceparent })).in).toContain(remote.traceId);
  for (const malformed of ["00-zz", `00-${"0".repeat(32)}-${remote.spanId}-01`, "x".repeat(9000)])
    expect((await post("/continued", { traceparent: malformed })).in).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  await app.close();
  const [linked, continued, ...malformed] = exporter.getFinishedSpans();
  expect(linked?.parentSpanContext).toBeUndefined();
  expect(linked?.links.map(({ context: { traceId, spanId } }) => ({ traceId, spanId }))).toEqual([remote]);
  expect(continued?.parentSpanContext).toMatchObject(remote);
  expect(continued?.links).toEqual([]);
  expect(malformed.map(({ parentSpanContext, links }) => [parentSpanContext, links])).toEqual(
    Array(3).fill([undefined, []]),
  );
});

test("probes have no span, and a failure is an error without its message", async () => {
  const { app, post } = await openServer();
  expect((await post("/healthz")).in).toBeNull();
  await post("/fails");
  await app.close();
  const spans = exporter.getFinishedSpans();
  expect(spans.map(({ name, status }) => ({ name, status }))).toEqual([{ name: "POST /fails", status: { code: 2 } }]);
  expect(spans[0]?.events).toEqual([]);
});

test("a call out of a trace carries traceparent only where it is propagated, and its span has host and port alone", async () => {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.traceparent as string | undefined);
    response.writeHead(503).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const call = (isPropagated: boolean) =>
    traceCall(
      { method: "GET", url: `http://127.0.0.1:${port}/hook/secret-path?key=secret-key`, isPropagated },
      (headers) => fetch(`http://127.0.0.1:${port}`, { headers: { ...headers } }),
      ({ status }) => ({ status }),
    );
  await continueTrace(traceparent, { name: "deliver", attributes: {} }, async () => {
    await call(true);
    await call(false);
  });
  await continueTrace(null, { name: "deliver", attributes: {} }, () => call(true));
  server.close();
  const [propagated, silent, deliver, ...others] = exporter.getFinishedSpans();
  expect(others).toEqual([]);
  expect(seen).toEqual([`00-${remote.traceId}-${propagated?.spanContext().spanId}-01`, undefined, undefined]);
  expect(deliver?.parentSpanContext).toMatchObject(remote);
  for (const span of [propagated, silent]) {
    expect(span?.parentSpanContext?.spanId).toBe(deliver?.spanContext().spanId);
    expect(span?.attributes).toEqual({
      "http.request.method": "GET",
      "server.address": "127.0.0.1",
      "server.port": port,
      "http.response.status_code": 503,
      "error.type": "503",
    });
  }
});
