import { z } from "zod";
import { startParamPattern } from "./code.ts";
import { anyEventType } from "./event-words.ts";
import { deliveryState, moment, telegramId } from "./wire-fields.ts";

/** What an event is worth, where the bot's setting includes it. */
export const revenueMicros = z
  .int()
  .nonnegative()
  .describe(
    "What the event is worth to the publisher: its share of what the advertiser was charged, in millionths of `currency`, recorded when the event was earned. 0 where nothing was charged. Only with the bot's setting `includeRevenue`.",
  );
export const currencyCode = z
  .string()
  .regex(/^[A-Z]{3}$/)
  .describe("ISO 4217: of `revenue_micros`.");

/** The publisher's own `startapp` value. */
export const startParam = z
  .string()
  .regex(startParamPattern)
  .describe(
    "The `startapp` value of the link that opened the mini-app, as Telegram signed it, unless it is a code of this bot. Whoever made the link chose it, and that may be the user.",
  );

/** A page's own note, unsigned. */
export const clientNote = z
  .string()
  .max(128)
  .describe(
    "What the publisher's own page passed to `show({ note })`. Unsigned: whoever has the page may say anything. Only with the bot's setting `sendsClientNotes`.",
  );

/** A page of a bot's events since a cursor. */
export const eventsSinceCursor = z.object({
  after: z.string().max(200).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});

/** Which of its events a publisher reads. */
export const listEventsQuery = eventsSinceCursor
  .extend({
    latest: z.coerce
      .number()
      .int()
      .min(1)
      .max(1000)
      .optional()
      .describe(
        "So many of the latest events, in the same order, instead of those since a cursor. `next` is the end of the list.",
      ),
  })
  .refine(({ after, latest }) => after === undefined || latest === undefined, {
    error: "excludes after: read the latest events, or those since a cursor",
    path: ["latest"],
  });

/** A webhook's state, or that it is no longer kept. */
export const listedDelivery = z
  .enum([...deliveryState.options, "not-kept"])
  .describe(`${deliveryState.description} \`not-kept\`: the event is so old that its webhook is no longer kept.`);

/** An event as its publisher reads it. */
export const listedEvent = z.object({
  event_id: z.string(),
  event: anyEventType,
  bot_id: telegramId,
  user_tg_id: z.string(),
  code: z.string().optional(),
  reference: z.string().optional(),
  start_param: startParam.optional(),
  client_note: clientNote.optional(),
  occurred_at: moment,
  revenue_micros: revenueMicros.optional(),
  currency: currencyCode.optional(),
  test: z.literal(true).optional(),
  delivery: listedDelivery,
});
export type ListedEvent = z.infer<typeof listedEvent>;
