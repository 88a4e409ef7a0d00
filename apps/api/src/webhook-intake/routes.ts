import {
  describeRefusal,
  isSignatureTest,
  kindOfRefusal,
  refusalBody,
  type WebhookFault,
} from "@intermission/ad-core/webhook-refusal";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { errorBody, noteUnavailability, UNAVAILABLE_RETRY_SECONDS } from "@intermission/server/http-server";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { RefusalCounter, RefusalReason } from "./intake-metrics.ts";
import type { ReceiveWebhook, ReceiveWebhookOutcome } from "./receive-webhook.ts";

const answers = {
  recorded: [200, { status: "ok" }],
  // Kept, and a repeat would not be paid either: the sender may stop.
  unmatched: [200, { status: "ok" }],
  "bad-shape": [400, errorBody("BAD_REQUEST", "the body is not a webhook of this contract")],
  "foreign-bot": [403, errorBody("FOREIGN_BOT", "this receiver belongs to another bot")],
} as const satisfies Record<Exclude<ReceiveWebhookOutcome["outcome"], "bad-signature">, readonly [number, object]>;

const unknownBot = errorBody(
  "NOT_FOUND",
  "no such bot is served here: the address of a bot's webhooks is /webhooks/ads/{bot_id}",
);

interface Params {
  botId?: string;
}

/** The addresses of webhooks. Without an id, they are of the bot of the environment. */
export const webhookPaths = ["/webhooks/ads", "/webhooks/ads/:botId"];

/** Largest body that is read. The ad service's are below 1 kB. */
const MAX_BODY_BYTES = 64 * 1024;

type UnreadReason = Exclude<RefusalReason, WebhookFault>;
const unreadOfStatus: Record<number, UnreadReason> = { 413: "too-large", 415: "wrong-content-type" };
const unreadBecause: Record<UnreadReason, string> = {
  "too-large": `the body has more than ${MAX_BODY_BYTES} bytes, and webhooks have less than 1 kB`,
  "wrong-content-type": "the content type is not application/json: the request is not a webhook, or a proxy changed it",
  "malformed-request": "the request is malformed, or did not arrive completely",
};

export interface Receiver {
  receive: ReceiveWebhook;
  refusals: Pick<RefusalCounter, "count">;
}

/**
 * `/webhooks/ads/{bot_id}`: the signature must be of that bot, and the event is recorded for no other. Without an id, it
 * is the bot of the environment.
 */
export function webhookRoutes(
  app: FastifyInstance,
  now: () => Date,
  receiverOf: (botId: string | undefined) => Receiver | undefined,
): void {
  app.register(async (scope) => {
    // The signature covers the raw bytes: they must not be parsed before.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.addHook("onError", async (request, _reply, error) => {
      const receiver = receiverOf((request.params as Params | undefined)?.botId);
      const reason = unreadOfStatus[error.statusCode ?? 0] ?? "malformed-request";
      receiver?.refusals.count(reason, unreadBecause[reason]);
    });

    for (const path of webhookPaths) scope.post<{ Params: Params }>(path, { bodyLimit: MAX_BODY_BYTES }, answer);
  });

  async function answer(request: FastifyRequest<{ Params: Params }>, reply: FastifyReply) {
    const receiver = receiverOf(request.params.botId);
    if (!receiver) return reply.code(404).send(unknownBot);
    const { receive, refusals } = receiver;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    try {
      const result = await receive({ body, headers: request.headers }, now());
      if (result.outcome === "bad-signature") {
        const { refusal } = result;
        if (!isSignatureTest(refusal, request.headers["user-agent"]))
          refusals.count(refusal.fault, describeRefusal(refusal), kindOfRefusal(refusal));
        return await reply.code(401).send(refusalBody(refusal));
      }
      const [status, answer] = answers[result.outcome];
      if (result.outcome !== "recorded") request.log.warn(factsOf(result), "webhook not recorded");
      return await reply.code(status).send(answer);
    } catch (error) {
      // It is unknown whether it was committed: the sender must retry, and a repeat is safe.
      const unavailability = unavailabilityOf(error);
      if (unavailability) noteUnavailability(request, reply, error, unavailability);
      else request.log.error({ err: error }, "webhook could not be recorded");
      reply.code(503).header("retry-after", String(UNAVAILABLE_RETRY_SECONDS));
      return await reply.send(errorBody("UNAVAILABLE", "try again later"));
    }
  }
}

function factsOf(result: ReceiveWebhookOutcome): object {
  const { outcome } = result;
  if (outcome === "unmatched") return { outcome, reason: result.reason };
  return outcome === "bad-shape" ? { outcome, fault: result.message } : { outcome };
}
