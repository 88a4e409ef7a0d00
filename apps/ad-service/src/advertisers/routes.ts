import type { Database } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { type RecordConversionOutcome, recordConversion } from "./record-conversion.ts";

const postback = z.object({
  click_id: z.string().min(1).max(64),
  key: z.string().min(1).max(128),
  conversion_id: z.string().max(128).default(""),
  event: z.string().max(64).default(""),
  value_micros: z.coerce.number("must be a whole number of micros").int().min(0).max(1e15).optional(),
});

const refusals = {
  "unknown-key": [401, "UNAUTHORIZED", "the key belongs to no advertiser; it may be truncated or replaced"],
  "unknown-click": [404, "UNKNOWN_CLICK", "no click of this id was counted for a campaign of this advertiser"],
  "too-many": [409, "TOO_MANY_CONVERSIONS", "this click has reached the maximum number of conversions"],
} satisfies Record<Extract<RecordConversionOutcome, { outcome: "refused" }>["reason"], [number, string, string]>;

/** `GET|POST /postback/v1/conversions`: the advertiser's server reports a conversion of a click. */
export function conversionRoutes(app: FastifyInstance, deps: { database: Database; now?: () => Date }): void {
  const { database, now = () => new Date() } = deps;
  const calls = rateLimiter({ quota: 200, windowSeconds: 4, mostKeys: 20_000 });
  const wrongKeys = rateLimiter({ quota: 20, windowSeconds: 100, mostKeys: 20_000 });

  const answer = async (request: FastifyRequest, given: unknown) => {
    const at = now();
    const network = addressNetwork(request.ip);
    spend(calls, network, at);
    const asked = parseRequest(postback, given);
    const outcome = await recordConversion(database, {
      ...{ clickId: asked.click_id, key: asked.key, conversionId: asked.conversion_id, event: asked.event },
      ...{ valueMicros: asked.value_micros ?? null, now: at },
    });
    if (outcome.outcome !== "refused") return { outcome: outcome.outcome };
    if (outcome.reason === "unknown-key") spend(wrongKeys, network, at);
    throw new HttpError(...refusals[outcome.reason]);
  };

  app.register(
    async (scope) => {
      scope.addHook("onRequest", async (_request, reply) => {
        reply.header("cache-control", "no-store");
      });
      scope.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, body, done) =>
        done(null, Object.fromEntries(new URLSearchParams(String(body)))),
      );
      scope.get("/conversions", { exposeHeadRoute: false }, (request) => answer(request, request.query));
      scope.post("/conversions", (request) =>
        answer(request, { ...fieldsOf(request.query), ...fieldsOf(request.body) }),
      );
    },
    { prefix: "/postback/v1" },
  );
}

function fieldsOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
