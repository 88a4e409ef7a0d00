import { TRACER } from "@intermission/postgres/trace-commits";
import {
  type Context,
  context,
  isSpanContextValid,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { methodName, routeName } from "./metrics.ts";
import { contextOfTraceparent } from "./trace-context.ts";

/** Probes and scrapes, which come all the time and say nothing about users. */
const untraced = new Set(["/healthz", "/readyz", "/metrics"]);

/**
 * Each request is a span: its method, the pattern of its route, its status. Its address, headers and body hold codes, tokens
 * and launch data, so that none of them becomes an attribute. Call it before routes are added.
 *
 * A request begins a trace of its own, and links to the one that its caller names by `traceparent`: strangers must not
 * decide what is sampled, or write into the traces of others. At `continuedRoutes` the caller's trace goes on.
 */
export function traceRequests(app: FastifyInstance, { continuedRoutes }: { continuedRoutes: readonly string[] }): void {
  const contexts = new WeakMap<FastifyRequest, Context>();
  app.addHook("onRequest", (request, _reply, done) => {
    const route = request.routeOptions.url;
    if (route !== undefined && untraced.has(route)) return done();
    const isContinued = route !== undefined && continuedRoutes.includes(route);
    const entered = trace.setSpan(ROOT_CONTEXT, startSpan(request, route ?? "none", isContinued));
    contexts.set(request, entered);
    context.with(entered, done);
  });
  // Again, since the body arrived outside of the context.
  app.addHook("preValidation", (request, _reply, done) => {
    const entered = contexts.get(request);
    if (entered === undefined) done();
    else context.with(entered, done);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const span = trace.getSpan(contexts.get(request) ?? ROOT_CONTEXT);
    span?.setAttribute("http.response.status_code", reply.statusCode);
    if (reply.statusCode >= 500) span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    done();
  });
}

function startSpan(request: FastifyRequest, route: string, isContinued: boolean): Span {
  const method = methodName(request.method);
  const pattern = routeName(route);
  const { traceparent } = request.headers;
  const remote = typeof traceparent === "string" ? contextOfTraceparent(traceparent) : ROOT_CONTEXT;
  const attributes = { "http.request.method": method, "http.route": pattern };
  const options = { kind: SpanKind.SERVER, attributes, links: isContinued ? [] : linksTo(remote) };
  return trace.getTracer(TRACER).startSpan(`${method} ${pattern}`, options, isContinued ? remote : ROOT_CONTEXT);
}

function linksTo(remote: Context): Link[] {
  const linked = trace.getSpanContext(remote);
  return linked !== undefined && isSpanContextValid(linked) ? [{ context: linked }] : [];
}
