import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { advertiserStates } from "./advertisers.ts";
import { microsOf } from "./amounts.ts";
import { forms } from "./field-forms.ts";
import {
  after,
  boundedText,
  confirmation,
  find,
  idempotencyKey,
  listLimit,
  micros,
  moment,
  next,
  sortBy,
  total,
  wholeList,
} from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { terms, termsInput, withLimitOnlyOnCredit } from "./terms.ts";

/** `credit`: the account gets the amount; `debit`: it gives it. */
export const correctionDirections = ["credit", "debit"] as const;
export type CorrectionDirection = (typeof correctionDirections)[number];
/** `revenue`: the operator bears or gets it; `cash`: money that came in or went out. */
export const correctionAccounts = ["revenue", "cash"] as const;
export type CorrectionAccount = (typeof correctionAccounts)[number];

export const entryKinds = ["top_up", "charge", "refund", "correction", "payout"] as const;

const advertiserMoney = z.object({
  advertiserId: z.string(),
  name: z.string(),
  state: z.enum(advertiserStates),
  billing: terms.shape.billing,
  creditLimitMicros: micros.nullable().describe("Null: prepaid, or on credit without a limit."),
  balanceMicros: micros.describe("What was paid in, less what the campaigns have spent so far; negative on credit."),
  availableMicros: micros.nullable().describe("What may still be spent; null: there is no limit."),
});
export type AdvertiserMoney = z.output<typeof advertiserMoney>;

const listedMoney = advertiserMoney.extend({ campaigns: z.int() });
export type ListedMoney = z.output<typeof listedMoney>;

/** What the list of advertisers with their money is sorted by. */
export const moneySorts = ["name", "state", "campaigns", "billing", "balance", "available"] as const;
export type MoneySort = (typeof moneySorts)[number];

const entry = z.object({
  entryId: z.int(),
  transactionId: z.string().optional().describe("Not for publishers: that of a charge names its advertiser."),
  kind: z.enum(entryKinds),
  amountMicros: micros.describe("What the account gets; negative: what it gives."),
  currency: z.string(),
  at: moment,
  reference: z.string().nullable(),
  note: z.string().nullable(),
});
export type MoneyEntry = z.output<typeof entry>;

const statementLine = z.object({
  kind: z.enum(entryKinds),
  at: moment.nullable().describe("Null: the sum of the month."),
  amountMicros: micros,
  reference: z.string().nullable(),
  note: z.string().nullable(),
});
export type StatementLine = z.output<typeof statementLine>;

export const moneyStatement = z.object({
  number: z.int().describe("Running, without gaps."),
  side: z.enum(["advertiser", "publisher"]),
  ownerId: z.string().describe("Of the advertiser, or of the publisher's bot."),
  name: z.string(),
  month: z.string().describe("UTC, as 2026-03."),
  currency: z.string(),
  openingMicros: micros,
  closingMicros: micros,
  lines: z.array(statementLine),
  issuedAt: moment,
});
export type MoneyStatement = z.output<typeof moneyStatement>;

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
    "What a payout of the month would pay: what is owed, in the smallest unit of the currency. The rest stays owed.",
  ),
  paidAt: moment.nullable().describe("When the payout of this month, or of a later one, was recorded."),
  reference: z.string().nullable().describe("Of that payout."),
});
export type PublisherMoney = z.output<typeof publisherMoney>;

const ofAdvertiser = z.object({ advertiser: z.string().max(128).describe("Its id, or its name in any case.") });
const ofBot = z.object({ botId: telegramId });
const statementNumber = z.object({
  number: z
    .string()
    .regex(/^\d{1,15}$/, "must be the number of a statement")
    .transform(Number),
});
const statementsQuery = z.object({
  before: z
    .string()
    .regex(/^\d{1,15}$/, "must be the number of a statement")
    .optional(),
  limit: listLimit,
});
const statements = z.object({ statements: z.array(moneyStatement).describe("The latest first."), next });
const formats = ["csv", "html"] as const;
const format = z.object({ format: z.enum(formats).describe("`html` is a page to read and to print.") });
const answerTypes = ["text/csv", "text/html"] as const;
const month = z.string().regex(forms.MONTH, "must be a month such as 2026-03");
const amountMicros = microsOf("payment");
const reference = boundedText(128).describe("Of the bank, the invoice or the payment provider.");
const note = boundedText(500);
const correction = z
  .strictObject({
    amountMicros,
    idempotencyKey,
    direction: z.enum(correctionDirections).describe("`credit`: the account gets the amount; `debit`: it gives it."),
    against: z
      .enum(correctionAccounts)
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

export type StatementFormat = (typeof formats)[number];

export const moneyRoutes = {
  listAdvertiserMoney: {
    method: "GET",
    path: "/money/advertisers",
    description: "Lists what each advertiser has left.",
    query: z.object({
      after,
      limit: wholeList.limit,
      find: find("the name or the id"),
      state: z.enum(advertiserStates).optional(),
      empty: z.stringbool().default(false).describe("Only those that have nothing left."),
      sort: sortBy(moneySorts),
    }),
    answer: z.object({
      currency: z.string(),
      advertisers: z.array(listedMoney).describe("By name, without another order."),
      next,
      total,
    }),
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
    body: withLimitOnlyOnCredit(
      z.strictObject({
        ...termsInput,
        billing: terms.shape.billing,
        expected: terms
          .optional()
          .describe("The terms that the caller has seen: if they are others meanwhile, nothing is set (409)."),
      }),
    ).meta({ examples: [{ billing: "prepaid" }] }),
    answer: advertiserMoney,
    refusals: [409],
  },
  recordTopUp: {
    method: "POST",
    path: "/money/advertisers/:advertiser/top-ups",
    description: "Records money that an advertiser paid in.",
    params: ofAdvertiser,
    query: confirmation,
    body: z
      .strictObject({ amountMicros, reference, note: note.optional(), idempotencyKey })
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
    refusals: [409],
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
    refusals: [409],
  },
  listStatements: {
    method: "GET",
    path: "/money/statements",
    description: "Lists the monthly statements of all advertisers and publishers.",
    query: statementsQuery,
    answer: statements,
  },
  listAdvertiserStatements: {
    method: "GET",
    path: "/money/advertisers/:advertiser/statements",
    description: "Lists an advertiser's monthly statements.",
    params: ofAdvertiser,
    query: statementsQuery,
    answer: statements,
  },
  readAdvertiserStatement: {
    method: "GET",
    path: "/money/advertisers/:advertiser/statements/:number",
    description: "Returns an advertiser's statement as a file or a page.",
    params: ofAdvertiser.extend(statementNumber.shape),
    query: format,
    answer: z.string(),
    answerTypes,
  },
  listPublisherStatements: {
    method: "GET",
    path: "/money/publishers/:botId/statements",
    description: "Lists the monthly statements of a bot's publisher.",
    params: ofBot,
    query: statementsQuery,
    answer: statements,
  },
  readPublisherStatement: {
    method: "GET",
    path: "/money/publishers/:botId/statements/:number",
    description: "Returns a publisher's statement as a file or a page.",
    params: ofBot.extend(statementNumber.shape),
    query: format,
    answer: z.string(),
    answerTypes,
  },
  listPublisherMoney: {
    method: "GET",
    path: "/money/publishers",
    description:
      "Lists what each bot's publisher earned in a month, what is owed until its end, and whether it was paid.",
    query: z.object({
      month: month.optional().describe("UTC; without it the last one that is over."),
      after,
      limit: wholeList.limit,
    }),
    answer: z.object({
      currency: z.string(),
      month: z.string(),
      isOver: z
        .boolean()
        .describe("Whether the month is over and all of its charges have entries, so that it can be paid."),
      publishers: z.array(publisherMoney),
      next,
      settledUntil: moment.nullable().describe("Charges and refunds until this moment are counted."),
    }),
  },
  readEarnings: {
    method: "GET",
    path: "/money/publishers/:botId/earnings",
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
    description: "Lists the entries of a bot's account.",
    params: ofBot,
    query: entriesQuery,
    answer: entries,
  },
} as const satisfies OperatorRoutes;
