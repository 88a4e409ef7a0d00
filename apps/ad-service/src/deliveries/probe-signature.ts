import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import { SIGNATURE_TEST_USER_AGENT } from "@intermission/ad-core/webhook-refusal";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import { isSuccess, sendWebhook } from "./attempt-delivery.ts";
import { webhookBody } from "./webhook-body.ts";

/** The test before may take 15 s, and its lease lasts 30 s. */
const TOTAL_TIMEOUT_MS = 5000;

/**
 * Whether an endpoint answers 2xx to a test event that is signed with a random key that is thrown away, for a user whom no receiver
 * rewards; null: unknown, since there was no answer. Sent once, and not stored: it is no event.
 */
export async function acceptsWrongSignature(
  requests: Pick<GuardedRequests, "guardedRequest">,
  { botId, url }: { botId: string; url: string },
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<boolean | null> {
  const eventId = newEventId(now.getTime(), randomBytes(10));
  const body = webhookBody({ event: "rewarded", eventId, botId, userId: "0", at: now, isTest: true });
  const wrong = randomBytes(32).toString("hex");
  const result = await sendWebhook(
    requests,
    { botId, eventId, attempt: 1, body, url, deliveryMode: "at-most-once" },
    { active: wrong, all: [wrong] },
    { now, signal, userAgent: SIGNATURE_TEST_USER_AGENT, totalTimeoutMs: TOTAL_TIMEOUT_MS },
  );
  return result.status === undefined ? null : isSuccess(result);
}
