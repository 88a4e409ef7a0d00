import type { FastifyInstance } from "fastify";
import { collectDefaultMetrics, Gauge, type Histogram, Registry } from "prom-client";
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

/** Adds one observation, in seconds, to a series. */
export type Observe = (seconds: number) => void;

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly counts: number[];
  sum: number;
}

/**
 * A histogram whose series are created once and then written without a look-up: an observation takes 10 ns, with
 * prom-client's own histogram 460 to 900 (it sorts and joins the labels each time). Label values must be from a bounded set.
 *
 * @returns a function that creates a series and returns its writer; call it once per series and keep the writer.
 */
export function durationHistogram(
  registry: Registry,
  options: { readonly name: string; readonly help: string; readonly upToSeconds: readonly number[] },
): (labels?: Readonly<Record<string, string>>) => Observe {
  const { name, help, upToSeconds } = options;
  const all: Series[] = [];
  const metric = {
    name,
    help,
    type: "histogram",
    get: async () => ({ name, help, type: "histogram", values: all.flatMap((series) => valuesOf(series, options)) }),
  };
  // The registry uses only the name and `get` of a metric.
  registry.registerMetric(metric as unknown as Histogram);
  return (labels = {}) => {
    const series: Series = { labels, counts: new Array(upToSeconds.length + 1).fill(0), sum: 0 };
    all.push(series);
    return (seconds) => {
      let bucket = 0;
      while (bucket < upToSeconds.length && seconds > (upToSeconds[bucket] ?? 0)) bucket += 1;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += seconds;
    };
  };
}

function valuesOf({ labels, counts, sum }: Series, options: { name: string; upToSeconds: readonly number[] }) {
  const { name, upToSeconds } = options;
  let count = 0;
  const buckets = counts.map((inBucket, index) => {
    count += inBucket;
    const le = String(upToSeconds[index] ?? "+Inf");
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Each label value makes a permanent series; the other thirty methods share one. */
const usualMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const upToSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * `http_request_duration_seconds{route,method,status}`: the route's pattern, never the address, which contains codes and
 * ids; the class of the status; `none` for requests without a route. Call it before routes are added.
 */
export function countRequests(app: FastifyInstance, registry: Registry): void {
  const newSeries = durationHistogram(registry, {
    name: "http_request_duration_seconds",
    help: "Answered requests, from their headers to the end of the answer.",
    upToSeconds,
  });
  const observers = new Map<string, Map<string, Observe>>();
  app.addHook("onResponse", (request, reply, done) => {
    const route = request.routeOptions.url ?? "none";
    const status = statusClass(reply.statusCode);
    const ofRoute = found(observers, route, () => new Map<string, Observe>());
    const method = methodName(request.method);
    found(ofRoute, method + status, () => newSeries({ route: routeName(route), method, status }))(
      reply.elapsedTime / 1000,
    );
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

function found<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
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
