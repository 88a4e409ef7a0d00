import { z } from "zod";
import { cardExamples } from "./api-examples.ts";
import { consent } from "./consent.ts";
import { moment, telegramId } from "./wire-fields.ts";

/** Requests and answers of the cards of `/client/v1`: ads of networks that a bot sends as messages. */

export const offerCardRequest = z
  .object({
    bot_id: telegramId,
    user_tg_id: telegramId,
    language: z.string().max(35).optional().describe("The user's `language_code`: cards and their marking are in it."),
    consent: consent.nullable().optional().describe("As with a code: without it, no id of the user goes to a buyer."),
  })
  .meta({ examples: cardExamples.offerCardRequest });

export const offeredCard = z
  .object({
    card_id: z.string(),
    label: z.string().describe("The word that marks it as an ad, in the user's language. Send it with the card."),
    title: z.string().optional(),
    text: z
      .string()
      .describe("Plain text, not HTML or Markdown. Label, title, text and advertiser fit into a caption."),
    image_url: z.string().optional().describe("For `sendPhoto`."),
    button: z.string().describe("The text of the button."),
    url: z.string().describe("For the button: it counts the click and leads on."),
    advertiser: z.string().optional(),
    expires_at: moment.describe("Send the card, and report that it was sent, before."),
  })
  .meta({ examples: cardExamples.offeredCard });
export type OfferedCard = z.infer<typeof offeredCard>;

export const offerCardResponse = z
  .object({
    card: offeredCard.nullable(),
    reason: z
      .enum(["no-buyer", "no-card"])
      .optional()
      .describe("Why there is none: no buyer of cards may be asked about this user, or none had a card."),
  })
  .meta({ examples: cardExamples.offerCardResponse });
export type OfferCardResponse = z.infer<typeof offerCardResponse>;

export const shownCardResponse = z
  .object({
    card_id: z.string(),
    counted: z.boolean().describe("Whether it is paid; also if it was reported before."),
    shown_at: moment.optional(),
    reason: z
      .enum(["expired", "test"])
      .optional()
      .describe("Why it is not paid: it was reported too late, or is a tester's."),
  })
  .meta({ examples: cardExamples.shownCardResponse });
export type ShownCardResponse = z.infer<typeof shownCardResponse>;
