import type { AnyEventType } from "@intermission/ad-core/event-words";
import { encodeWebhookEvent, type OutgoingWebhookEvent } from "@intermission/ad-core/outgoing-webhook";

/** What an event is about. */
interface WebhookFacts {
  event: AnyEventType;
  eventId: string;
  botId: string;
  userId: string;
  code?: string | undefined;
  /** Empty or null: there is none. */
  reference?: string | null | undefined;
  startParam?: string | null | undefined;
  clientNote?: string | null | undefined;
  at: Date;
  /** What the event says about its worth. */
  worth?: Pick<OutgoingWebhookEvent, "revenue_micros" | "currency">;
  isTest?: boolean;
}

/** The body of an event's webhook, which is stored with the event: each attempt sends the same bytes. */
export function webhookBody({
  code,
  reference,
  startParam,
  clientNote,
  at,
  worth,
  isTest = false,
  ...of
}: WebhookFacts): string {
  return encodeWebhookEvent({
    event: of.event,
    event_id: of.eventId,
    bot_id: of.botId,
    user_tg_id: of.userId,
    ...(code !== undefined && { code }),
    ...(reference && { reference }),
    ...(startParam != null && { start_param: startParam }),
    ...(clientNote != null && { client_note: clientNote }),
    occurred_at: at.toISOString(),
    ...worth,
    ...(isTest && { test: true }),
  });
}
