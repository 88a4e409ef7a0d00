import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { guardToken } from "./guard-token.ts";
import { createHttpServer, refuseOtherMethods } from "./http-server.ts";
import type { Logger } from "./logger.ts";

/** A registry for one server: tests open several servers in one process, and they would share prom-client's default one. */
export function metricsRegistry({ service, version }: { service: string; version: string }): Registry {
  const registry = new Registry();
  new Gauge({
    name: "intermission_build_info",
    help: "Always 1; the labels are the service and its versions.",
    labelNames: ["service", "version", "node"],
    registers: [registry],
  }).set({ service, version, node: process.version }, 1);
  return registry;
}

/** Adds metrics of the process: memory, CPU, event loop, garbage collection. Only for `main.ts`: they cannot be stopped. */
export function countProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
}

/** Whether anything can read the metrics: what takes time for each request is measured only then. */
export function isScraped({ token, port }: { token?: string | undefined; port?: number | undefined }): boolean {
  return token !== undefined || port !== undefined;
}

/** Each label value makes a permanent series; the other thirty methods share one. */
const usualMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * `http_request_duration_seconds{route,method,status}`: the route's pattern, never the address, which contains codes and
 * ids; the class of the status; `none` for requests without a route. Call it before routes are added.
 */
export function countRequests(app: FastifyInstance, registry: Registry): void {
  const took = new Histogram({
    name: "http_request_duration_seconds",
    help: "Answered requests, from their headers to the end of the answer.",
    labelNames: ["route", "method", "status"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const series = new Map<string, { observe(seconds: number): void }>();
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    const [method, status] = [methodName(request.method), statusClass(reply.statusCode)];
    const key = `${method} ${status} ${route}`;
    const known = series.get(key);
    const ofRequest = known ?? took.labels({ route: routeName(route), method, status });
    if (known === undefined) series.set(key, ofRequest);
    ofRequest.observe(reply.elapsedTime / 1000);
    done();
  });
}

/** A method that anybody may make up is `other`. */
export function methodName(method: string): string {
  return usualMethods.has(method) ? method : "other";
}

/** A route's pattern without the router's regular expressions: `/:code(…)` becomes `/:code`. */
export function routeName(route: string): string {
  return route.replaceAll(/(:\w+)\([^/]*\)/g, "$1");
}

/** For example `2xx`. */
export function statusClass(status: number): string {
  return `${Math.floor(status / 100)}xx`;
}

/**
 * `GET /metrics` in Prometheus' text format. With a token, requests need it as `Authorization: Bearer …`. Without one, the
 * caller must make sure that strangers cannot reach this app.
 */
export function metricsRoutes(app: FastifyInstance, options: { registry: Registry; token: string | undefined }): void {
  const { registry, token } = options;
  const guard = token === undefined ? undefined : guardToken({ token, setting: "METRICS_TOKEN", registry });
  app.get("/metrics", async (request, reply) => {
    guard?.(request);
    return reply
      .header("cache-control", "no-store")
      .type(registry.contentType)
      .send(await registry.metrics());
  });
}

/** Serves `/metrics` on a separate port, if one is set. Close the returned server last, so that the stop can be observed. */
export async function serveMetrics(options: {
  readonly registry: Registry;
  readonly token: string | undefined;
  readonly host: string;
  readonly port: number | undefined;
  readonly logger: Logger;
}): Promise<FastifyInstance | undefined> {
  const { registry, token, host, port, logger } = options;
  if (port === undefined) return undefined;
  const app = createHttpServer({ logger, trustProxy: false });
  metricsRoutes(app, { registry, token });
  await app.after();
  refuseOtherMethods(app);
  await app.listen({ host, port });
  return app;
}

const MIN_MS = 5000;
/** Reading takes at most this share of the time, however slow it gets. */
const MAX_TIME_SHARE = 0.02;

/** Reads at most every five seconds, and less often if reading is slow. Calls in between get the last result. */
export function rarelyRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let last: Promise<Value> | undefined;
  let freshUntil = 0;
  return () => {
    if (last !== undefined && performance.now() < freshUntil) return last;
    const startedAt = performance.now();
    freshUntil = Number.POSITIVE_INFINITY;
    last = read().finally(() => {
      const tookMs = performance.now() - startedAt;
      freshUntil = performance.now() + Math.max(MIN_MS, tookMs / MAX_TIME_SHARE);
    });
    return last;
  };
}
