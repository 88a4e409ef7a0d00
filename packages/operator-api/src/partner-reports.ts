import { z } from "zod";
import { grants } from "./access.ts";
import { boundedText, micros, moment, timeZone, wholeList } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

/** How far a partner's figure is from ours: at most 2 %, at most 5 %, or more. */
export const differenceLevels = ["green", "amber", "red"] as const;
export type DifferenceLevel = (typeof differenceLevels)[number];

const columnOf = (name: string, what: string) =>
  boundedText(128).default(name).describe(`The column of ${what}, by its head.`);

const imported = z.object({
  buyerId: z.string(),
  days: z.int().describe("How many were stored; the days of an earlier import are replaced."),
  from: z.string(),
  to: z.string(),
});

const difference = z.object({
  buyerId: z.string(),
  name: z.string(),
  day: z.string().describe("Of the time zone of the report."),
  timeZone: z.string(),
  theirImpressions: z.int().nullable().describe("Null: the report has none."),
  ourImpressions: z.int(),
  theirMicros: micros,
  ourMicros: micros.describe("What the buyer owes for the impressions of the day."),
  differencePercent: z
    .number()
    .nullable()
    .describe("Of their amount from ours, to a tenth; null: they have an amount, and we have none."),
  level: z.enum(differenceLevels),
  importedAt: moment,
});
export type PartnerDifference = z.output<typeof difference>;

const thresholdFault = "must be a number from 0 to 100";

export const partnerReportRoutes = {
  importPartnerReport: {
    method: "PUT",
    path: "/buyers/:buyerId/report",
    access: grants.bookkeepers,
    changes: "buyer",
    description:
      "Stores what a partner's own report says of each day: a file of comma-separated values with heads. Amounts are in the deployment's currency; several rows of a day are added.",
    params: z.object({ buyerId: z.string().max(64) }),
    query: z.object({
      day: columnOf("date", "the days, as 2026-03-01"),
      impressions: columnOf("impressions", "impressions, which may be missing"),
      amount: columnOf("revenue", "amounts"),
      timeZone: timeZone.default("UTC"),
    }),
    body: "file",
    answer: imported,
  },
  listPartnerDifferences: {
    method: "GET",
    path: "/partner-differences",
    access: grants.moneyReaders,
    description: "Lists the days of imported reports beside what was shown here, with the difference of each.",
    query: z.object({
      buyerId: z.string().max(64).optional().describe("Of one buyer."),
      threshold: z.coerce
        .number(thresholdFault)
        .min(0, thresholdFault)
        .max(100, thresholdFault)
        .default(2)
        .describe("Days that differ by no more percent are left out; 0 shows all that differ."),
      limit: wholeList.limit,
    }),
    answer: z.object({
      currency: z.string(),
      days: z.int().describe("How many of the latest 92 days were compared."),
      total: z.int().describe("How many of these differ by more than the threshold."),
      differences: z.array(difference).describe("The latest day first, at most `limit`."),
    }),
  },
} as const satisfies OperatorRoutes;
