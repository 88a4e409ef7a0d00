import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import { encodeWebhookEvent, type OutgoingWebhookEvent } from "@intermission/ad-core/outgoing-webhook";
import { sign, signStandardWebhook } from "@intermission/ad-core/signature";

export interface WebhookToSign {
  /** `"rewarded"` by default. */
  readonly event?: "rewarded" | "direct_link" | "interstitial" | "task" | "task_reversed" | undefined;
  readonly userId: string | number;
  /** A new one by default. Equal ids are copies of one event. */
  readonly eventId?: string | undefined;
  readonly botId?: string | number | undefined;
  readonly code?: string | undefined;
  readonly reference?: string | undefined;
  readonly startParam?: string | undefined;
  /** What the page passed to `show({ note })`, as for a bot whose setting includes it. */
  readonly clientNote?: string | undefined;
  readonly occurredAt?: Date | undefined;
  /** With `currency`: what the event is worth, as for a bot whose setting includes it. */
  readonly revenueMicros?: number | undefined;
  readonly currency?: string | undefined;
  readonly isTest?: boolean | undefined;
}

/** A webhook as the ad service sends it: pass it to `fetch` or `new Request`. */
export interface SignedWebhook {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  /** A `Uint8Array`, which has a type parameter only since TypeScript 5.7. */
  readonly body: ReturnType<InstanceType<typeof TextEncoder>["encode"]>;
}

/**
 * Makes a signed webhook. `tokens`: the bot's API token, or several while they rotate, of which the first signs
 * `X-Signature` and each signs `webhook-signature`. `now` is the time of sending.
 */
export function signWebhook(
  event: WebhookToSign,
  tokens: string | readonly string[],
  { now = new Date() }: { readonly now?: Date | undefined } = {},
): SignedWebhook {
  const { userId, botId = "7000000001", code, reference, startParam, isTest = false, occurredAt = now } = event;
  const { clientNote, revenueMicros, currency } = event;
  const { eventId = newEventId(now.getTime(), randomBytes(10)) } = event;
  const fields: OutgoingWebhookEvent = {
    event: event.event ?? "rewarded",
    event_id: eventId,
    bot_id: String(botId),
    user_tg_id: String(userId),
    ...(code !== undefined && { code }),
    ...(reference !== undefined && { reference }),
    ...(startParam !== undefined && { start_param: startParam }),
    ...(clientNote !== undefined && { client_note: clientNote }),
    occurred_at: occurredAt.toISOString(),
    ...(revenueMicros !== undefined && { revenue_micros: revenueMicros }),
    ...(currency !== undefined && { currency }),
    ...(isTest && { test: true }),
  };
  return signBody(encodeWebhookEvent(fields), { botId: String(botId), eventId, tokens: [tokens].flat(), now });
}

/** Signs the text of an event for one attempt. */
export function signBody(
  text: string,
  attempt: { readonly botId: string; readonly eventId: string; readonly tokens: readonly string[]; readonly now: Date },
): SignedWebhook {
  const { botId, eventId, tokens, now } = attempt;
  const body = new TextEncoder().encode(text);
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-bot-id": botId,
      "x-timestamp": now.toISOString(),
      "x-signature": sign(body, tokens[0] ?? ""),
      ...signStandardWebhook({ id: eventId, timestampSeconds: Math.floor(now.getTime() / 1000), body, tokens }),
    },
    body,
  };
}
