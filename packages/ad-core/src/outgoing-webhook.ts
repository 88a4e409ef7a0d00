import type { AnyEventType } from "./event-words.ts";

// Without zod, so that the published package can contain this file.

/** An event as this service sends it: with its id, so that it can be deduped. */
export interface OutgoingWebhookEvent {
  event: AnyEventType;
  event_id: string;
  bot_id: string;
  user_tg_id: string;
  code?: string;
  reference?: string;
  start_param?: string;
  client_note?: string;
  occurred_at: string;
  revenue_micros?: number;
  currency?: string;
  test?: true;
}

/** An object, so that the compiler reports a field without a place. */
const places: Record<keyof OutgoingWebhookEvent, true> = {
  event: true,
  event_id: true,
  bot_id: true,
  user_tg_id: true,
  code: true,
  reference: true,
  start_param: true,
  client_note: true,
  occurred_at: true,
  revenue_micros: true,
  currency: true,
  test: true,
};
/** The order in which the ad service writes the fields. */
export const webhookFieldOrder = Object.keys(places);

/** Makes the text whose UTF-8 bytes are stored, signed and sent; the bytes are the same on every attempt. */
export function encodeWebhookEvent(event: OutgoingWebhookEvent): string {
  return JSON.stringify(event, webhookFieldOrder);
}
