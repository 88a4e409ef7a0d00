import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { microsOf } from "./amounts.ts";
import { after, boundedText, listLimit, micros, moment, next } from "./fields.ts";
import { correctionAccounts, correctionDirections } from "./money-fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { terms } from "./terms.ts";

export const requestStates = ["waiting", "approved", "refused", "withdrawn"] as const;

const aboveMicros = microsOf("price")
  .nullable()
  .describe("What is more needs the approval of a second person; null: nothing does.");
const ofAdvertiser = { advertiserId: z.string() };
const ofBot = { botId: telegramId };
const correction = {
  transactionId: z.string(),
  amountMicros: micros,
  direction: z.enum(correctionDirections),
  against: z.enum(correctionAccounts),
  note: z.string(),
};
const payout = { month: z.string(), amountMicros: micros, reference: z.string() };

/** What is asked for, with all of its values, by the operation that a second person approves. It is stored as it is shown. */
export const requested = z.discriminatedUnion("operation", [
  z.strictObject({
    operation: z.literal("setTerms"),
    ...ofAdvertiser,
    terms,
    before: terms.describe("Those that are raised: with others meanwhile, the request cannot be approved."),
  }),
  z.strictObject({
    operation: z.literal("recordTopUp"),
    ...ofAdvertiser,
    transactionId: z.string(),
    amountMicros: micros,
    reference: z.string(),
    note: z.string().nullable(),
    isConfirmed: z.boolean().describe("Whether it is another payment than one that has its reference."),
  }),
  z.strictObject({ operation: z.literal("correctAdvertiser"), ...ofAdvertiser, ...correction }),
  z.strictObject({ operation: z.literal("correctPublisher"), ...ofBot, ...correction }),
  z.strictObject({
    operation: z.literal("creditHeldPayment"),
    ...ofAdvertiser,
    heldId: z.string(),
    amountMicros: micros,
    reference: z.string(),
  }),
  z.strictObject({
    operation: z.literal("recordPayout"),
    ...ofBot,
    ...payout,
    note: z.string().nullable(),
    idempotencyKey: z.string().nullable(),
  }),
  z.strictObject({
    operation: z.literal("payAll"),
    ...payout,
    idempotencyKey: z.string().nullable(),
    payments: z.array(z.strictObject({ ...ofBot, amountMicros: micros, payeeName: z.string(), iban: z.string() })),
  }),
  z.strictObject({
    operation: z.literal("setApprovalAmount"),
    aboveMicros,
    before: aboveMicros.describe("The amount that is raised."),
  }),
]);
export type Requested = z.output<typeof requested>;
export const requestedOperations = requested.options.map(({ shape }) => shape.operation.value);

const moneyRequest = z.object({
  requestId: z.string(),
  state: z.enum(requestStates),
  requested,
  name: z.string().nullable().describe("Of the advertiser or the bot."),
  amountMicros: micros.nullable().describe("What is compared with the setting; null: without a limit."),
  currency: z.string(),
  requestedAt: moment,
  requestedBy: z.string().nullable().describe("The person's e-mail address; null: the command line, which is nobody."),
  secondedBy: z.string().nullable().describe("Who has approved first what the command line asked for."),
  isOwn: z.boolean().describe("Whether the reader has requested or approved, and so cannot approve."),
  decidedAt: moment.nullable(),
  decidedBy: z.string().nullable().describe("As `requestedBy`."),
  reason: z.string().nullable().describe("Why it was refused or withdrawn."),
});
export type MoneyRequest = z.output<typeof moneyRequest>;

const params = z.object({
  requestId: z.string().regex(/^mrq_[0-9A-Za-z]{1,60}$/, "must be an id as the list shows it"),
});
const amount = z.object({ aboveMicros, currency: z.string() });

export const moneyRequestRoutes = {
  showApprovalAmount: {
    method: "GET",
    path: "/money/approval-amount",
    access: grants.moneyReaders,
    description: "Returns above which amount credit, payments by hand, corrections and payouts need a second person.",
    answer: amount,
  },
  setApprovalAmount: {
    method: "PUT",
    path: "/money/approval-amount",
    access: grants.owner,
    changes: "deployment",
    description:
      "Sets above which amount credit, payments by hand, corrections and payouts need a second person. A higher one, or none, needs a second owner.",
    body: z.strictObject({ aboveMicros }).meta({ examples: [{ aboveMicros: 500_000_000 }] }),
    answer: amount,
    refusals: [409],
  },
  listMoneyRequests: {
    method: "GET",
    path: "/money/requests",
    access: grants.moneyReaders,
    description: "Lists what waits for the approval of a second person, and what was decided.",
    query: z.object({ state: z.enum(requestStates).optional(), after, limit: listLimit }),
    answer: z.object({
      requests: z.array(moneyRequest).describe("The latest first."),
      next,
      waiting: z.int().describe("How many wait, of all."),
    }),
  },
  approveMoneyRequest: {
    method: "POST",
    path: "/money/requests/:requestId/approve",
    // Who may record it may approve it; owners alone a change of the amount.
    access: grants.bookkeepers,
    changes: "money-request",
    description:
      "Approves a request of another person, which is done with exactly these values, once. What the command line asked for needs two persons.",
    params,
    answer: moneyRequest,
    refusals: [409],
  },
  refuseMoneyRequest: {
    method: "POST",
    path: "/money/requests/:requestId/refuse",
    access: grants.bookkeepers,
    changes: "money-request",
    description: "Refuses a request; who requested withdraws it.",
    params,
    body: z.strictObject({ reason: boundedText(500) }).meta({ examples: [{ reason: "The invoice is of last year" }] }),
    answer: moneyRequest,
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
