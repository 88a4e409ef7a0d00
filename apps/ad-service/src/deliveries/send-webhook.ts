import { sign, signStandardWebhook } from "@intermission/ad-core/signature";
import type { SigningTokens } from "../bots/signing-tokens.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { GuardedResult } from "../outbound/outgoing-request.ts";
import type { ClaimedDelivery } from "./claim-deliveries.ts";

/** Sends the stored bytes once, with a fresh signature and timestamp. */
export async function sendWebhook(
  { guardedRequest }: Pick<GuardedRequests, "guardedRequest">,
  delivery: Pick<ClaimedDelivery, "botId" | "eventId" | "attempt" | "body" | "url" | "deliveryMode">,
  tokens: SigningTokens,
  now: Date,
  signal: AbortSignal,
): Promise<GuardedResult> {
  const body = Buffer.from(delivery.body, "utf8");
  const timestampSeconds = Math.floor(now.getTime() / 1000);
  return guardedRequest({
    purpose: "webhook",
    method: "POST",
    // The other side may close a kept connection during the write: the event would be lost without having arrived.
    connection: delivery.deliveryMode === "at-most-once" ? "fresh" : "kept",
    signal,
    url: delivery.url,
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": "Intermission-Webhooks/1.0",
      "x-bot-id": delivery.botId,
      "x-timestamp": new Date(timestampSeconds * 1000).toISOString().replace(".000Z", "Z"),
      "x-signature": sign(body, tokens.active),
      ...signStandardWebhook({ id: delivery.eventId, timestampSeconds, body, tokens: tokens.all }),
      "webhook-attempt": String(delivery.attempt),
    },
  });
}
