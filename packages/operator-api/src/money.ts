import { telegramId } from "@intermission/ad-core/client-api";
import { z } from "zod";
import { advertiserStates } from "./advertisers.ts";
import { microsOf } from "./amounts.ts";
import { after, boundedText, confirmation, listLimit, micros, moment, next, wholeList } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

export const billings = ["prepaid", "credit"] as const;
export const entryKinds = ["top_up", "charge", "refund", "correction", "payout"] as const;

const advertiserMoney = z.object({
  advertiserId: z.string(),
  name: z.string(),
  state: z.enum(advertiserStates),
  billing: z.enum(billings).describe("`prepaid`: nothing is shown beyond what was paid in; `credit`: up to the limit."),
  creditLimitMicros: micros.nullable().describe("Null: prepaid, or on credit without a limit."),
  balanceMicros: micros.describe("What was paid in, less what the campaigns have spent so far; negative on credit."),
  availableMicros: micros.nullable().describe("What may still be spent; null: there is no limit."),
});
export type AdvertiserMoney = z.output<typeof advertiserMoney>;

const entry = z.object({
  entryId: z.int(),
  transactionId: z.string(),
  kind: z.enum(entryKinds),
  amountMicros: micros.describe("What the account gets; negative: what it gives."),
  currency: z.string(),
  at: moment,
  reference: z.string().nullable(),
  note: z.string().nullable(),
});
export type MoneyEntry = z.output<typeof entry>;

const ofAdvertiser = z.object({ advertiser: z.string().max(128).describe("Its id, or its name in any case.") });
const ofBot = z.object({ botId: telegramId });
const amountMicros = microsOf("budget");
const reference = boundedText(128).describe("Of the bank, the invoice or the payment provider.");
const note = boundedText(500);
const correction = z
  .strictObject({
    amountMicros,
    direction: z.enum(["credit", "debit"]).describe("`credit`: the account gets the amount; `debit`: it gives it."),
    against: z
      .enum(["revenue", "cash"])
      .default("revenue")
      .describe(
        "`revenue`: the operator bears or gets it; `cash`: money that came in or went out, as after a typing mistake.",
      ),
    note: note.describe("Why; it stands on the statement."),
  })
  .meta({ examples: [{ amountMicros: 5_000_000, direction: "credit", note: "Goodwill for the outage of 3 March" }] });
const recorded = z.object({ transactionId: z.string(), balanceMicros: micros });
const entriesQuery = z.object({
  before: z
    .string()
    .regex(/^\d{1,18}$/, "must be the id of an entry")
    .optional()
    .describe("The `next` of the page before."),
  limit: listLimit,
});
const entries = z.object({
  entries: z.array(entry).describe("The latest first."),
  next,
  settledUntil: moment.nullable().describe("Charges and refunds until this moment have entries."),
});

export const moneyRoutes = {
  listAdvertiserMoney: {
    method: "GET",
    path: "/money/advertisers",
    description: "Lists what each advertiser has left.",
    query: z.object({ after, limit: wholeList.limit }),
    answer: z.object({ currency: z.string(), advertisers: z.array(advertiserMoney), next }),
  },
  showAdvertiserMoney: {
    method: "GET",
    path: "/money/advertisers/:advertiser",
    description: "Returns what an advertiser has left.",
    params: ofAdvertiser,
    answer: advertiserMoney.extend({ currency: z.string() }),
  },
  setTerms: {
    method: "PUT",
    path: "/money/advertisers/:advertiser/terms",
    description: "Sets whether an advertiser pays before or after, and up to which limit.",
    params: ofAdvertiser,
    body: z
      .strictObject({
        billing: z.enum(billings),
        creditLimitMicros: amountMicros.nullable().default(null).describe("Only on credit; null: without a limit."),
      })
      .refine(({ billing, creditLimitMicros }) => billing === "credit" || creditLimitMicros === null, {
        path: ["creditLimitMicros"],
        error: "must not be set for a prepaid advertiser",
      })
      .meta({ examples: [{ billing: "prepaid" }] }),
    answer: advertiserMoney,
  },
  recordTopUp: {
    method: "POST",
    path: "/money/advertisers/:advertiser/top-ups",
    description: "Records money that an advertiser paid in.",
    params: ofAdvertiser,
    query: confirmation,
    body: z
      .strictObject({ amountMicros, reference, note: note.optional() })
      .meta({ examples: [{ amountMicros: 100_000_000, reference: "INV-2026-014" }] }),
    status: 201,
    answer: recorded,
    refusals: [409],
  },
  correctAdvertiser: {
    method: "POST",
    path: "/money/advertisers/:advertiser/corrections",
    description: "Corrects an advertiser's account, by an entry of its own.",
    params: ofAdvertiser,
    body: correction,
    status: 201,
    answer: recorded,
  },
  listAdvertiserEntries: {
    method: "GET",
    path: "/money/advertisers/:advertiser/entries",
    description: "Lists the entries of an advertiser's account.",
    params: ofAdvertiser,
    query: entriesQuery,
    answer: entries,
  },
  correctPublisher: {
    method: "POST",
    path: "/money/publishers/:botId/corrections",
    description: "Corrects what a bot's publisher is owed, by an entry of its own.",
    params: ofBot,
    body: correction,
    status: 201,
    answer: recorded,
  },
  listPublisherEntries: {
    method: "GET",
    path: "/money/publishers/:botId/entries",
    description: "Lists the entries of a bot's account.",
    params: ofBot,
    query: entriesQuery,
    answer: entries,
  },
} as const satisfies OperatorRoutes;
