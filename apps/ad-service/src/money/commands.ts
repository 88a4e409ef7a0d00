import { amountOf } from "@intermission/operator-api/amounts";
import { statementAmounts } from "@intermission/operator-api/currency-units";
import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import { moneyStatement } from "@intermission/operator-api/statements";
import { type Columns, printedCsv, tableOf } from "@intermission/server/command-tables";
import {
  addCsv,
  addInput,
  callRoute,
  list,
  printList,
  subject,
  type Verb,
  verb,
  type WireAnswer,
} from "@intermission/server/route-commands";
import { type Command, InvalidArgumentError, Option } from "commander";
import { heldPaymentVerbs } from "./held-payment-commands.ts";
import { payoutVerbs } from "./payout-commands.ts";
import { recordingVerbs } from "./recording-commands.ts";
import { requestVerbs } from "./request-commands.ts";
import { statementCsv } from "./statement-files.ts";

/** Whose account a list is about. */
const ofOwner = { botId: { text: "of a bot's publisher", isRequired: false } } as const;
const addAdvertiser = (command: Command) =>
  command.addOption(new Option("--advertiser <advertiser>", "its id, or its name in any case").conflicts("botId"));

type Entry = WireAnswer<"listAdvertiserEntries">["entries"][number];
const entryColumns: Columns<Entry> = {
  AT: "at",
  KIND: "kind",
  AMOUNT: ({ amountMicros, currency }) => `${amountOf(amountMicros)} ${currency}`,
  REFERENCE: "reference",
  NOTE: "note",
  ENTRY: "entryId",
};

const entries: Verb = (command, context) => {
  const readInput = addInput<"listPublisherEntries">(command, operatorRoutes.listPublisherEntries, {
    description: "the entries of an account, the latest first",
    examples: ["--advertiser 'The Shop'", "--bot-id 7000000001 --limit 20"],
    options: { ...ofOwner, before: { value: "entry-id" } },
  });
  addCsv(addAdvertiser(command)).action(async () => {
    const input = await readInput(context);
    const { advertiser } = command.opts<{ advertiser?: string }>();
    const of = { columns: entryColumns };
    if (advertiser !== undefined) {
      const ofAdvertiser = { ...input, params: { advertiser } };
      return printList(context, command, { name: "listAdvertiserEntries", key: "entries", input: ofAdvertiser }, of);
    }
    if (input.params.botId === undefined) command.error("error: name --advertiser or --bot-id");
    return printList(context, command, { name: "listPublisherEntries", key: "entries", input }, of);
  });
};

type Statement = WireAnswer<"listStatements">["statements"][number];
const statementColumns: Columns<Statement> = {
  NUMBER: "number",
  MONTH: "month",
  NAME: "name",
  SIDE: "side",
  OPENING: (one) => statementAmounts(one).opening,
  CLOSING: (one) => `${statementAmounts(one).closing} ${one.currency}`,
  ISSUED: "issuedAt",
};

const statements: Verb = (command, context) => {
  const readInput = addInput<"listPublisherStatements">(command, operatorRoutes.listPublisherStatements, {
    description: "monthly statements, the latest first",
    examples: ["", "--advertiser 'The Shop'", "--bot-id 7000000001 --csv 14"],
    options: { ...ofOwner, before: { value: "number" } },
  });
  addAdvertiser(command)
    .option("--csv <number>", "print this one as comma-separated values")
    .action(async () => {
      const { params, query } = await readInput(context);
      const { advertiser, csv } = command.opts<{ advertiser?: string; csv?: string }>();
      // The statement of a number is the first one of the list before the next number.
      const page = csv === undefined ? query : { before: String(Number(csv) + 1), limit: "1" };
      const input = { params: { ...params, ...(advertiser !== undefined && { advertiser }) }, query: page, body: {} };
      const name =
        advertiser !== undefined
          ? "listAdvertiserStatements"
          : params.botId !== undefined
            ? "listPublisherStatements"
            : "listStatements";
      if (csv === undefined)
        return printList(context, command, { name, key: "statements", input }, { columns: statementColumns });
      const { statements } = await callRoute(context, name, input);
      context.print(statements, () => csvOfStatement(statements[0], Number(csv)));
    });
};

function csvOfStatement(found: Statement | undefined, number: number): string {
  if (found?.number !== number) throw new InvalidArgumentError(`There is no statement ${number} of this account.`);
  return printedCsv(statementCsv(moneyStatement.parse(found)));
}

export const moneyCommands = subject("money", "what advertisers have left, what publishers are owed", {
  list: list("listAdvertiserMoney", "advertisers", {
    description: "what each advertiser has left",
    columns: ({ currency }) => ({
      ADVERTISER: "name",
      BILLING: "billing",
      [`LIMIT ${currency}`]: "creditLimitMicros",
      [`BALANCE ${currency}`]: "balanceMicros",
      [`AVAILABLE ${currency}`]: ({ availableMicros }) =>
        availableMicros === null ? "no limit" : amountOf(availableMicros),
      ID: "advertiserId",
    }),
  }),
  show: verb("showAdvertiserMoney", { description: "what one advertiser has left" }),
  terms: verb("setTerms", {
    description: "set whether an advertiser pays before or after",
    arguments: ["advertiser", "billing"],
    examples: ["'The Shop' prepaid", "'The Shop' credit --limit 500"],
    options: {
      billing: "prepaid, or on credit",
      creditLimitMicros: { flag: "limit", text: "of the credit; without it there is no limit" },
    },
    without: ["expected"],
  }),
  ...recordingVerbs,
  ...payoutVerbs,
  ...heldPaymentVerbs,
  ...requestVerbs,
  statements,
  publishers: list("listPublisherMoney", "publishers", {
    description: "what each bot's publisher earned in a month, and is owed",
    examples: ["", "--month 2026-02"],
    options: { month: "such as 2026-02; without it the last one that is over" },
    columns: {
      "BOT ID": "botId",
      NAME: "name",
      EARNED: "earnedMicros",
      OWED: "owedMicros",
      PAYABLE: "payableMicros",
      PAID: ({ paidAt }) => paidAt ?? "no",
      REFERENCE: "reference",
    },
    text: (_rows, { month, currency }, table) => `${month}, in ${currency}\n\n${table}`,
  }),
  earnings: verb("readEarnings", {
    description: "what a bot's publisher earned, by month, and what was paid",
    text: ({ months, owedMicros, currency }) =>
      `${tableOf(months, {
        MONTH: "month",
        EARNED: "earnedMicros",
        PAID: ({ paidAt }) => paidAt ?? "no",
        REFERENCE: "reference",
      })}\n\nowed in all: ${amountOf(owedMicros)} ${currency}`,
  }),
  entries,
});
