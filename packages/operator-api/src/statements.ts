import { telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { listLimit, micros, moment, next } from "./fields.ts";
import { entryKinds } from "./money-fields.ts";
import type { OperatorRoutes } from "./route.ts";
import { statementLanguages } from "./statement-languages.ts";

const statementLine = z.object({
  kind: z.enum(entryKinds),
  at: moment.nullable().describe("Null: the sum of the month."),
  amountMicros: micros,
  reference: z.string().nullable(),
  note: z.string().nullable(),
});
export type StatementLine = z.output<typeof statementLine>;

const statementItem = z.object({
  kind: z.enum(["charge", "refund"]),
  event: z.string().describe("As in the events, such as `rewarded`."),
  campaignId: z.string().nullable().describe("Null: the statement of a publisher."),
  campaign: z.string().nullable().describe("Its name when the statement was issued."),
  unitMicros: micros.describe("The price of one, or the publisher's share of it."),
  quantity: z.int(),
});
export type StatementItem = z.output<typeof statementItem>;

/** What a statement says of one of its parties: as it was when the statement was issued. */
const statementParty = z.object({
  legalName: z.string().nullable(),
  address: z.string().nullable(),
  taxId: z.string().nullable(),
});

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
  items: z
    .array(statementItem)
    .describe("What charges and refunds consist of. Those before this list existed have none."),
  operator: statementParty.extend({ taxName: z.string().nullable(), taxPercent: z.string().nullable() }).nullable(),
  party: statementParty
    .extend({ language: z.enum(statementLanguages), taxNote: z.string().nullable() })
    .nullable()
    .describe("Null: nothing was known."),
  issuedAt: moment,
});
export type MoneyStatement = z.output<typeof moneyStatement>;

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
export type StatementFormat = (typeof formats)[number];

/** Apart from the other routes of money, whose forms load none of it. */
export const statementRoutes = {
  listStatements: {
    method: "GET",
    path: "/money/statements",
    access: grants.moneyReaders,
    description: "Lists the monthly statements of all advertisers and publishers.",
    query: statementsQuery,
    answer: statements,
  },
  listAdvertiserStatements: {
    method: "GET",
    path: "/money/advertisers/:advertiser/statements",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Lists an advertiser's monthly statements.",
    params: ofAdvertiser,
    query: statementsQuery,
    answer: statements,
  },
  readAdvertiserStatement: {
    method: "GET",
    path: "/money/advertisers/:advertiser/statements/:number",
    access: { ...grants.moneyReaders, ...grants.ownAdvertiser },
    description: "Returns an advertiser's statement as a file or a page.",
    params: ofAdvertiser.extend(statementNumber.shape),
    query: format,
    answer: z.string(),
    answerTypes,
  },
  listPublisherStatements: {
    method: "GET",
    path: "/money/publishers/:botId/statements",
    access: { ...grants.moneyReaders, ...grants.ownBot },
    description: "Lists the monthly statements of a bot's publisher.",
    params: ofBot,
    query: statementsQuery,
    answer: statements,
  },
  readPublisherStatement: {
    method: "GET",
    path: "/money/publishers/:botId/statements/:number",
    access: { ...grants.moneyReaders, ...grants.ownBot },
    description: "Returns a publisher's statement as a file or a page.",
    params: ofBot.extend(statementNumber.shape),
    query: format,
    answer: z.string(),
    answerTypes,
  },
} as const satisfies OperatorRoutes;
