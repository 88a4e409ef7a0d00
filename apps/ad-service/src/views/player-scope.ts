import { type CheckedScope, checkRequests, type RequestCheck } from "@intermission/server/checked-routes";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { type RateLimiter, rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";

/** A beacon sends JSON as text. */
export const consumes = ["application/json", "text/plain"];

/** Returns the outcome of a call. One too many of an address that forges launch data, or a session's token, is a 429. */
export type SpendForgery = <Outcome extends { outcome: string }>(
  request: FastifyRequest,
  outcome: Outcome,
  at: Date,
) => Outcome;

export interface PlayerScope {
  scope: CheckedScope;
  /** Checking a signature takes about 0.1 ms. Thousands of users may share one address of a mobile network. */
  checks: RateLimiter;
  spendForgery: SpendForgery;
}

/** Routes below `/player/v1`, which pages call. `paths`: all of them, for preflights. */
export function playerScope(
  app: FastifyInstance,
  paths: readonly string[],
  routes: (player: PlayerScope) => void,
): void {
  app.register(
    async (app) => {
      const scope = checkRequests(app, checkBody);
      answerAnyOrigin(scope, paths);
      acceptBeacons(scope);
      const checks = rateLimiter({ quota: 1200, windowSeconds: 60, maxKeys: 20_000 });
      routes({ scope, checks, spendForgery: countForgeries() });
    },
    { prefix: "/player/v1" },
  );
}

function countForgeries(): SpendForgery {
  // As of wrong tokens: authentic launch data is accepted all the same, also from an address that others share.
  const forgeries = rateLimiter({ quota: 20, windowSeconds: 60, maxKeys: 20_000 });
  return (request, outcome, at) => {
    const isForgedLaunch = "reason" in outcome && outcome.reason === "INIT_DATA_INVALID";
    if (isForgedLaunch || outcome.outcome === "unknown") spend(request, forgeries, addressNetwork(request.ip), at);
    return outcome;
  };
}

/** Any origin may call: only a token in the body authenticates a user here, never a cookie or an address. */
function answerAnyOrigin(scope: FastifyInstance, paths: readonly string[]): void {
  scope.addHook("onRequest", (_request, reply, done) => {
    reply.header("access-control-allow-origin", "*").header("cache-control", "no-store");
    // A page of another origin reads no other headers: when to come back, and what to name in a report.
    reply.header("access-control-expose-headers", "retry-after, x-request-id");
    done();
  });
  for (const path of paths) {
    scope.options(path, { schema: { hide: true } }, (_request, reply) => {
      reply.header("access-control-allow-methods", "POST").header("access-control-allow-headers", "content-type");
      return reply.header("access-control-max-age", "86400").code(204).send();
    });
  }
}

/** A beacon with a JSON content type needs a preflight, which a closing page cannot complete: JSON arrives as text/plain. */
function acceptBeacons(scope: FastifyInstance): void {
  scope.addContentTypeParser("text/plain", { parseAs: "string" }, scope.getDefaultJsonParser("error", "error"));
}

const checkBody: RequestCheck = (schema, value) => {
  const parsed = schema.safeParse(value ?? undefined);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map(({ path, message }) => ({ field: path.join("."), message }));
  throw new HttpError(400, "BAD_REQUEST", "the request does not have the expected shape", { details });
};
