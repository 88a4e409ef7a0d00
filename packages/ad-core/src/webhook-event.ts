import { z } from "zod";
import { webhookExamples } from "./api-examples.ts";
import { startParamPattern } from "./code.ts";
import { anyEventType } from "./event-words.ts";
import { clientNote, currencyCode, revenueMicros } from "./listed-event.ts";
import { readMoment } from "./moment.ts";
import { telegramId } from "./wire-fields.ts";

/** Years are not bounded: an event must not be lost because its service has a wrong clock. */
const eventTime = z.string().refine((text) => {
  const read = readMoment(text);
  return read.outcome === "moment" || read.fault === "far-year";
}, "must be a date-time of RFC 3339");

/**
 * The body of a webhook, service → publisher.
 *
 * Every service of this contract guarantees only `event` and `user_tg_id`; ours sends the others too. Unknown fields are
 * ignored.
 */
export const webhookEvent = z
  .object({
    event: anyEventType,
    user_tg_id: z
      .union([telegramId, z.literal("0")], "must be a string of digits, in quotes")
      .describe('`"0"` on test events, so that receivers which do not know `test` reward nobody.'),
    event_id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("`evt_` + UUIDv7; the same on every attempt and every replay. Receivers dedupe by it."),
    bot_id: telegramId.optional(),
    code: z.string().min(1).max(64).optional(),
    reference: z.string().max(128).optional(),
    start_param: z
      .string()
      .regex(startParamPattern)
      .optional()
      // For information only: an event must not be lost because of it.
      .catch(undefined)
      .describe(
        "The `startapp` value of the link that opened the mini-app, unless it is a code of this bot. Whoever made the link chose it, and that may be the user.",
      ),
    client_note: clientNote
      .optional()
      // For information only, too.
      .catch(undefined),
    occurred_at: eventTime
      .meta({ format: "date-time" })
      .optional()
      .describe("RFC 3339: when the event was earned, not when it was sent."),
    revenue_micros: revenueMicros
      .optional()
      // For information only, like the currency.
      .catch(undefined),
    currency: currencyCode.optional().catch(undefined),
    test: z.boolean().optional(),
  })
  .meta({ examples: webhookExamples.webhookEvent });
export type WebhookEvent = z.infer<typeof webhookEvent>;

export type ParsedWebhookEvent =
  | { outcome: "valid"; event: WebhookEvent }
  | { outcome: "invalid"; reason: "not-utf8" | "not-json" | "wrong-shape"; message: string };

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the bytes that were verified. Never throws; the message names fields, never their values. */
export function parseWebhookEvent(body: Uint8Array): ParsedWebhookEvent {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    return { outcome: "invalid", reason: "not-utf8", message: "the body is not UTF-8" };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { outcome: "invalid", reason: "not-json", message: "the body is not JSON" };
  }
  const parsed = webhookEvent.safeParse(value);
  if (parsed.success) return { outcome: "valid", event: parsed.data };
  const faults = parsed.error.issues.map((issue) => `${issue.path.join(".") || "body"}: ${issue.message}`);
  return { outcome: "invalid", reason: "wrong-shape", message: faults.join("; ") };
}
