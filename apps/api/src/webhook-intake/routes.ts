import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { errorBody, logUnavailability, UNAVAILABLE_RETRY_SECONDS } from "@intermission/server/http-server";
import type { FastifyInstance } from "fastify";
import type { RefusalCounter, RefusalReason } from "./intake-metrics.ts";
import type { ReceiveWebhook, ReceiveWebhookOutcome } from "./receive-webhook.ts";

const answers = {
  recorded: [200, { status: "ok" }],
  // Kept, and a repeat would not be paid either: the sender may stop.
  unmatched: [200, { status: "ok" }],
  "bad-signature": [401, errorBody("BAD_SIGNATURE", "X-Signature does not match the body")],
  "bad-shape": [400, errorBody("BAD_REQUEST", "the body is not a webhook of this contract")],
  "foreign-bot": [403, errorBody("FOREIGN_BOT", "this receiver belongs to another bot")],
} as const satisfies Record<ReceiveWebhookOutcome["outcome"], readonly [number, object]>;

/** Largest body that is read. The ad service's are below 1 kB. */
const bodyLimit = 64 * 1024;

const refusalOfStatus: Record<number, RefusalReason> = { 413: "too-large", 415: "wrong-content-type" };

export function webhookRoutes(app: FastifyInstance, receive: ReceiveWebhook, refusals: RefusalCounter): void {
  app.register(async (scope) => {
    // The signature covers the raw bytes: they must not be parsed before.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.addHook("onError", async (_request, _reply, error) => {
      refusals.count(refusalOfStatus[error.statusCode ?? 0] ?? "malformed-request");
    });

    scope.post("/webhooks/ads", { bodyLimit }, async (request, reply) => {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      try {
        const result = await receive({ body, headers: request.headers }, new Date());
        const [status, answer] = answers[result.outcome];
        if (result.outcome === "bad-signature") refusals.count(result.fault);
        else if (result.outcome !== "recorded") request.log.warn(factsOf(result), "webhook not recorded");
        return await reply.code(status).send(answer);
      } catch (error) {
        // It is unknown whether it was committed: the sender must retry, and a repeat is safe.
        const unavailability = unavailabilityOf(error);
        if (unavailability) logUnavailability(request, error, unavailability);
        else request.log.error({ err: error }, "webhook could not be recorded");
        reply.code(503).header("retry-after", String(UNAVAILABLE_RETRY_SECONDS));
        return await reply.send(errorBody("UNAVAILABLE", "try again later"));
      }
    });
  });
}

function factsOf(result: ReceiveWebhookOutcome): object {
  const { outcome } = result;
  if (outcome === "unmatched") return { outcome, reason: result.reason };
  return outcome === "bad-shape" ? { outcome, fault: result.message } : { outcome };
}
