import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { durationHistogram, type Observe } from "./duration-histogram.ts";

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
    const method = usualMethods.has(request.method) ? request.method : "other";
    found(ofRoute, method + status, () => newSeries({ route: withoutRules(route), method, status }))(
      reply.elapsedTime / 1000,
    );
    done();
  });
}

/** Removes the router's regular expressions: `/:code(…)` becomes `/:code`. */
function withoutRules(route: string): string {
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
