import { z } from "zod";
import { grants } from "./access.ts";
import { microsOf } from "./amounts.ts";
import { forms } from "./field-forms.ts";
import { after, boundedText, idempotencyKey, listLimit, micros, moment, next } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

const run = z.object({
  runId: z.string(),
  month: z.string().describe("UTC, as 2026-03: everything that was owed until its end."),
  reference: z.string(),
  currency: z.string(),
  payouts: z.int(),
  amountMicros: micros.describe("The sum of the payouts."),
  hasSepaFile: z
    .boolean()
    .describe("In euros, from and to accounts of the Single Euro Payments Area; else there is the CSV alone."),
  madeAt: moment,
});
export type PayoutRun = z.output<typeof run>;

export const runFormats = ["sepa", "csv"] as const;
export type RunFormat = (typeof runFormats)[number];

const params = z.object({ runId: z.string().regex(/^run_[0-9A-Za-z]{1,60}$/, "must be an id as the list shows it") });

export const payoutRunRoutes = {
  payAll: {
    method: "POST",
    path: "/money/payout-runs",
    access: grants.bookkeepers,
    changes: "payout-run",
    description:
      "Records the payouts of a month to all publishers that have a payee and to whom it is due, in one transaction.",
    body: z
      .strictObject({
        month: z.string().regex(forms.MONTH, "must be a month such as 2026-03").describe("One that is over, UTC."),
        amountMicros: microsOf("payment")
          .optional()
          .describe("The sum that the caller has seen: if another one is due, nothing is recorded."),
        reference: boundedText(128)
          .optional()
          .describe("On each payout, for its publisher and its bank. `Payout` and the month, without one."),
        idempotencyKey,
      })
      .meta({ examples: [{ month: "2026-02" }] }),
    status: 201,
    answer: run,
    refusals: [409],
  },
  listPayoutRuns: {
    method: "GET",
    path: "/money/payout-runs",
    access: grants.moneyReaders,
    description: "Lists payouts that were recorded together.",
    query: z.object({ after, limit: listLimit }),
    answer: z.object({ runs: z.array(run).describe("The latest first."), next }),
  },
  readPayoutRun: {
    method: "GET",
    path: "/money/payout-runs/:runId/file",
    access: grants.moneyReaders,
    description:
      "Returns the payouts of a run as a file for the bank: `sepa` is a credit transfer initiation, pain.001.001.09 (ISO 20022).",
    params,
    query: z.object({ format: z.enum(runFormats) }),
    answer: z.string(),
    answerTypes: ["text/csv", "text/xml"],
    refusals: [409],
  },
} as const satisfies OperatorRoutes;
