import { errorBody, logUnavailability, UNAVAILABLE_RETRY_SECONDS } from "@intermission/http-server/http-server";
import { unavailabilityOf } from "@intermission/postgres/unavailability";
import type { FastifyInstance } from "fastify";
import type { RefusalCounter, RefusalReason } from "./count-refusals.ts";
import type { ReceiveWebhook, ReceiveWebhookOutcome } from "./receive-webhook.ts";

const answers = {
  recorded: [200, { status: "ok" }],
  // Kept, and no repeat of it would be worth more: the sender may stop.
  unmatched: [200, { status: "ok" }],
  "bad-signature": [401, errorBody("BAD_SIGNATURE", "X-Signature does not match the body")],
  "bad-shape": [400, errorBody("BAD_REQUEST", "the body is not a webhook of this contract")],
  "foreign-bot": [403, errorBody("FOREIGN_BOT", "this receiver belongs to another bot")],
} as const satisfies Record<ReceiveWebhookOutcome["outcome"], readonly [number, object]>;

/** Largest body that is read. Ours are below 1 kB. */
const bodyLimit = 64 * 1024;

const refusalOfStatus: Record<number, RefusalReason> = { 413: "too-large", 415: "wrong-content-type" };

export function webhookRoutes(app: FastifyInstance, receive: ReceiveWebhook, refusals: RefusalCounter): void {
  app.register(async (scope) => {
    // The signature covers the bytes as they came: nothing may parse them before.
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
        // Whether it was committed is unknown: the sender must come again, and a repeat does no harm.
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
