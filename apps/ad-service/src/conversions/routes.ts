import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import type { Database } from "@intermission/postgres/open-database";
import { addressNetwork } from "@intermission/server/client-address";
import { HttpError } from "@intermission/server/http-server";
import { parseRequest } from "@intermission/server/parse-request";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { MAX_CLICK_AGE_DAYS } from "../retention/kept-rows.ts";
import { postback, valueIn } from "./postback.ts";
import { countConversionRefusal, recordConversion } from "./record-conversion.ts";

/** Statuses, codes and texts of the answers. */
const refusals = {
  "unknown-key": [401, "UNAUTHORIZED", "the key belongs to no advertiser; it may be truncated or replaced"],
  "unknown-click": [
    404,
    "UNKNOWN_CLICK",
    "no click of this id was counted or is held for a campaign of this advertiser",
  ],
  "refused-click": [
    409,
    "CLICK_REFUSED",
    "this click was refused as suspicious: it cost nothing, and converts nothing",
  ],
  "too-late": [410, "CLICK_TOO_OLD", `the click is older than ${MAX_CLICK_AGE_DAYS} days: it no longer converts`],
  "too-many": [409, "TOO_MANY_CONVERSIONS", "this click has reached the maximum number of conversions"],
  reversed: [409, "CONVERSION_REVERSED", "this conversion was recorded and then reversed by the operator"],
} satisfies Record<Exclude<ConversionRefusal, "malformed" | "unknown-currency">, [number, string, string]>;

/** `GET|POST /postback/v1/conversions`: the advertiser's server reports a conversion of a click. */
export function conversionRoutes(
  app: FastifyInstance,
  deps: { database: Database; currency: string; now?: () => Date },
): void {
  const { database, currency, now = () => new Date() } = deps;
  const calls = rateLimiter({ quota: 200, windowSeconds: 4, maxKeys: 20_000 });
  const wrongKeys = rateLimiter({ quota: 20, windowSeconds: 100, maxKeys: 20_000 });

  const answer = async (request: FastifyRequest, input: unknown) => {
    const at = now();
    const network = addressNetwork(request.ip);
    spend(request, calls, network, at);
    const sent = await readPostback(input, at);
    const { valueMicros, note } = valueIn(sent);
    const outcome = await recordConversion(database, {
      clickId: sent.click_id,
      key: sent.key,
      conversionId: sent.conversion_id,
      event: sent.event,
      valueMicros,
      currency,
      now: at,
    });
    if (outcome.outcome !== "refused")
      return { outcome: outcome.outcome satisfies "recorded" | "repeated", ...(note !== undefined && { note }) };
    if (outcome.reason === "unknown-key") spend(request, wrongKeys, network, at);
    throw new HttpError(...refusals[outcome.reason]);
  };

  /** What is malformed is counted too, since an advertiser's tracker repeats it with each conversion. */
  async function readPostback(input: unknown, at: Date) {
    try {
      const sent = parseRequest(postback, input);
      // All values of a deployment are in its currency: one in another would be added to them as if it were.
      if (sent.currency === "" || sent.currency.toUpperCase() === currency) return sent;
    } catch (error) {
      await countConversionRefusal(database, "malformed", at);
      throw error;
    }
    await countConversionRefusal(database, "unknown-currency", at);
    const rule = `must be ${currency}, the currency of this service: convert the value, or leave both out`;
    throw new HttpError(400, "UNKNOWN_CURRENCY", `currency: ${rule}`, {
      details: [{ field: "currency", message: rule }],
    });
  }

  app.register(
    async (scope) => {
      scope.addHook("onRequest", async (_request, reply) => {
        reply.header("cache-control", "no-store");
      });
      // A POST may have all of its fields in the address, whatever type it declares for its empty body.
      const parseJson = scope.getDefaultJsonParser("error", "error");
      scope.removeContentTypeParser("application/json");
      scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) =>
        isEmpty(body) ? done(null) : parseJson(request, String(body), done),
      );
      scope.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) =>
        isEmpty(body) ? done(null) : done(new HttpError(415, "UNSUPPORTED_MEDIA_TYPE", otherType)),
      );
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

const otherType = "send the fields in the address, as a form or as JSON";

function isEmpty(body: string | Buffer): boolean {
  return String(body).trim() === "";
}

function fieldsOf(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}
