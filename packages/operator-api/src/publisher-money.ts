import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { forms } from "./field-forms.ts";
import { after, find, idempotencyKey, micros, moment, next, sortBy, total, wholeList } from "./fields.ts";
import { amountMicros, correction, entries, entriesQuery, note, recorded, reference } from "./money-fields.ts";
import type { OperatorRoutes } from "./route.ts";

const earningsMonth = z.object({
  month: z.string().describe("UTC, as 2026-03."),
  earnedMicros: micros.describe("Shares of charges, less refunds, with corrections."),
  paidAt: moment.nullable().describe("When the payout of this month, or a later one, was recorded."),
  reference: z.string().nullable().describe("Of that payout."),
});
export type EarningsMonth = z.output<typeof earningsMonth>;

const publisherMoney = z.object({
  botId: z.string(),
  name: z.string(),
  earnedMicros: micros.describe("In the month: shares of charges, less refunds, with corrections."),
  owedMicros: micros.describe("Until the end of the month, less all payouts."),
  payableMicros: micros.describe(
    "What a payout of the month would pay: what is owed, in the smallest unit of the currency, and nothing below the least amount. The rest stays owed.",
  ),
  hasPayee: z
    .boolean()
    .describe("Whether name and account are known, so that it is among those that are paid together."),
  paidAt: moment.nullable().describe("When the payout of this month, or of a later one, was recorded."),
  reference: z.string().nullable().describe("Of that payout."),
});
export type PublisherMoney = z.output<typeof publisherMoney>;

export const payoutStates = ["due", "paid"] as const;
export type PayoutState = (typeof payoutStates)[number];

/** Sort keys of the list of publishers with their money. */
export const publisherMoneySorts = ["name", "earned", "owed", "paid", "reference", "payee"] as const;
export type PublisherMoneySort = (typeof publisherMoneySorts)[number];

const ofBot = z.object({ botId: telegramId });
const month = z.string().regex(forms.MONTH, "must be a month such as 2026-03");

/** Apart from the routes of advertisers' money, so that a form loads one of both. */
export const publisherMoneyRoutes = {
  correctPublisher: {
    method: "POST",
    path: "/money/publishers/:botId/corrections",
    access: grants.bookkeepers,
    changes: "bot",
    description: "Corrects what a bot's publisher is owed, by an entry of its own.",
    params: ofBot,
    body: correction,
    status: 201,
    answer: recorded,
    refusals: [409],
  },
  listPublisherMoney: {
    method: "GET",
    path: "/money/publishers",
    access: grants.moneyReaders,
    description:
      "Lists what each bot's publisher earned in a month, what is owed until its end, and whether it was paid.",
    query: z.object({
      month: month.optional().describe("UTC; without it the last one that is over."),
      after,
      limit: wholeList.limit,
      find: find("the bot's name or id"),
      state: z.enum(payoutStates).optional().describe("Only those to whom something is due, or whose month was paid."),
      sort: sortBy(publisherMoneySorts),
    }),
    answer: z.object({
      currency: z.string(),
      month: z.string(),
      isOver: z
        .boolean()
        .describe("Whether the month is over and all of its charges have entries, so that it can be paid."),
      publishers: z.array(publisherMoney).describe("By the bot's id, without another order."),
      next,
      total,
      totalPayableMicros: micros.describe("Of all that match."),
      settledUntil: moment.nullable().describe("Charges and refunds until this moment are counted."),
    }),
  },
  readEarnings: {
    method: "GET",
    path: "/money/publishers/:botId/earnings",
    access: { ...grants.moneyReaders, ...grants.ownBot },
    description: "Returns what a bot's publisher earned, by month, and which months were paid.",
    params: ofBot,
    answer: z.object({
      currency: z.string(),
      months: z.array(earningsMonth).describe("The latest first."),
      owedMicros: micros.describe("What is owed in all, also for the running month."),
      settledUntil: moment.nullable().describe("Charges and refunds until this moment are counted."),
    }),
  },
  recordPayout: {
    method: "POST",
    path: "/money/publishers/:botId/payouts",
    access: grants.bookkeepers,
    changes: "bot",
    description:
      "Records that everything which a bot's publisher was owed until the end of a month was paid, in the smallest unit of the currency.",
    params: ofBot,
    body: z
      .strictObject({
        month: month.describe("One that is over, UTC."),
        amountMicros: amountMicros
          .optional()
          .describe("What was paid: if another amount is owed, nothing is recorded."),
        reference,
        note: note.optional(),
        idempotencyKey,
      })
      .meta({ examples: [{ month: "2026-02", reference: "SEPA 4711" }] }),
    status: 201,
    answer: z.object({ transactionId: z.string(), amountMicros: micros }),
    refusals: [409],
  },
  listPublisherEntries: {
    method: "GET",
    path: "/money/publishers/:botId/entries",
    access: { ...grants.moneyReaders, ...grants.ownBot },
    description: "Lists the entries of a bot's account.",
    params: ofBot,
    query: entriesQuery,
    answer: entries,
  },
} as const satisfies OperatorRoutes;
