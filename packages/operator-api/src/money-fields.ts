/** What the routes of advertisers' money and of publishers' have in common. */
import { z } from "zod";
import { microsOf } from "./amounts.ts";
import { boundedText, idempotencyKey, listLimit, micros, moment, next } from "./fields.ts";

/** `credit`: the account gets the amount; `debit`: it gives it. */
export const correctionDirections = ["credit", "debit"] as const;
export type CorrectionDirection = (typeof correctionDirections)[number];
/** `revenue`: the operator bears or gets it; `cash`: money that came in or went out. */
export const correctionAccounts = ["revenue", "cash"] as const;
export type CorrectionAccount = (typeof correctionAccounts)[number];

export const entryKinds = ["top_up", "charge", "refund", "correction", "payout"] as const;

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

export const amountMicros = microsOf("payment");
export const reference = boundedText(128).describe("Of the bank, the invoice or the payment provider.");
export const note = boundedText(500);
export const correction = z
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
export const recorded = z.object({ transactionId: z.string(), balanceMicros: micros });
export const entriesQuery = z.object({
  before: z
    .string()
    .regex(/^\d{1,18}$/, "must be the id of an entry")
    .optional()
    .describe("The `next` of the page before."),
  limit: listLimit,
});
export const entries = z.object({
  entries: z.array(entry).describe("The latest first."),
  next,
  settledUntil: moment.nullable().describe("Charges and refunds until this moment have entries."),
});
