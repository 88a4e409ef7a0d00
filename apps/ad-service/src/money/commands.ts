import { billings, moneyStatement } from "@intermission/operator-api/money";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import {
  amountOption,
  confirmable,
  confirmedQuery,
  telegramIdOption,
  wholeNumber,
} from "@intermission/server/command-options";
import {
  amountIn,
  printedCsv,
  type Row,
  recordOf,
  rowsOf,
  tableOf,
  withAmounts,
} from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { statementCsv } from "./statement-files.ts";

const advertiserHelp = "its id, or its name in any case";

export function moneyCommands(program: Command, context: CommandContext): void {
  const money = program.command("money").description("what advertisers have left, what publishers are owed");
  const show = (answer: Row) => context.print(answer, () => recordOf(withAmounts(answer)));

  withExamples(money.command("list").description("what each advertiser has left"), ["money list"]).action(async () => {
    const { rows, answer } = await callForAllRows(context, "advertisers", (after) =>
      operatorRequest("listAdvertiserMoney", { query: { after } }),
    );
    context.print(rows, () => tableOf(rows, columnsIn(String(answer.currency))));
  });

  withExamples(money.command("show").description("what one advertiser has left"), ["money show 'The Shop'"])
    .argument("<advertiser>", advertiserHelp)
    .action(async (advertiser: string) =>
      show(await callForRow(context, operatorRequest("showAdvertiserMoney", { params: { advertiser } }))),
    );

  withExamples(money.command("terms").description("set whether an advertiser pays before or after"), [
    "money terms 'The Shop' prepaid",
    "money terms 'The Shop' credit --limit 500",
  ])
    .argument("<advertiser>", advertiserHelp)
    .addArgument(money.createArgument("<billing>", "prepaid, or on credit").choices(billings))
    .option("--limit <amount>", "of the credit; without it there is no limit", amountOption("budget"))
    .action(async (advertiser: string, billing: string, { limit }: { limit?: number }) => {
      const body = { billing, creditLimitMicros: limit ?? null };
      show(await callForRow(context, operatorRequest("setTerms", { params: { advertiser }, body })));
    });

  withExamples(confirmable(money.command("top-up").description("record money that an advertiser paid in")), [
    "money top-up 'The Shop' 100 --reference INV-2026-014",
  ])
    .argument("<advertiser>", advertiserHelp)
    .argument("<amount>", "in the currency of the deployment", amountOption("payment"))
    .requiredOption("--reference <text>", "of the bank or the invoice")
    .option("--note <text>", "for the statement")
    .action(async (advertiser: string, amountMicros: number, { yes, ...of }: TopUpOptions) => {
      const input = { params: { advertiser }, query: confirmedQuery({ yes }), body: { amountMicros, ...of } };
      show(await callForRow(context, operatorRequest("recordTopUp", input)));
    });

  correction(money, "correct-advertiser", "correct an advertiser's account, by an entry of its own")
    .argument("<advertiser>", advertiserHelp)
    .argument("<amount>", "in the currency of the deployment", amountOption("payment"))
    .action(async (advertiser: string, amountMicros: number, of: CorrectionOptions) => {
      const input = { params: { advertiser }, body: { amountMicros, ...of } };
      show(await callForRow(context, operatorRequest("correctAdvertiser", input)));
    });
  correction(money, "correct-publisher", "correct what a bot's publisher is owed, by an entry of its own")
    .argument("<bot-id>", "Telegram id of the bot", telegramIdOption)
    .argument("<amount>", "in the currency of the deployment", amountOption("payment"))
    .action(async (botId: string, amountMicros: number, of: CorrectionOptions) => {
      const input = { params: { botId }, body: { amountMicros, ...of } };
      show(await callForRow(context, operatorRequest("correctPublisher", input)));
    });

  statementCommands(money, context);
  earningsCommands(money, context);

  withExamples(money.command("entries").description("the entries of an account, the latest first"), [
    "money entries --advertiser 'The Shop'",
    "money entries --bot-id 7000000001 --limit 20",
  ])
    .addOption(new Option("--advertiser <advertiser>", advertiserHelp).conflicts("botId"))
    .option("--bot-id <id>", "of a bot's publisher", telegramIdOption)
    .option("--before <entry-id>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ advertiser, botId, before, limit }: EntriesOptions, command: Command) => {
      const query = { before, limit: String(limit) };
      if (advertiser === undefined && botId === undefined) command.error("error: name --advertiser or --bot-id");
      const call =
        advertiser === undefined
          ? operatorRequest("listPublisherEntries", { params: { botId: botId ?? "" }, query })
          : operatorRequest("listAdvertiserEntries", { params: { advertiser }, query });
      const answer = await callForRow(context, call);
      const rows = rowsOf(answer, "entries");
      const more = answer.next === null ? "" : `\n\nThere are more: --before ${answer.next}`;
      context.print(rows, () => `${tableOf(rows, entryColumns)}${more}`);
    });
}

function statementCommands(money: Command, context: CommandContext): void {
  withExamples(money.command("statements").description("monthly statements, the latest first"), [
    "money statements",
    "money statements --advertiser 'The Shop'",
    "money statements --bot-id 7000000001 --csv 14",
  ])
    .addOption(new Option("--advertiser <advertiser>", advertiserHelp).conflicts("botId"))
    .option("--bot-id <id>", "of a bot's publisher", telegramIdOption)
    .option("--before <number>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .option("--csv <number>", "print this one as comma-separated values")
    .action(async ({ advertiser, botId, before, limit, csv }: StatementOptions) => {
      // The statement of a number is the first one of the list before the next number.
      const query =
        csv === undefined ? { before, limit: String(limit) } : { before: String(Number(csv) + 1), limit: "1" };
      const call =
        advertiser !== undefined
          ? operatorRequest("listAdvertiserStatements", { params: { advertiser }, query })
          : botId !== undefined
            ? operatorRequest("listPublisherStatements", { params: { botId }, query })
            : operatorRequest("listStatements", { query });
      const answer = await callForRow(context, call);
      const rows = rowsOf(answer, "statements");
      const more = answer.next === null ? "" : `\n\nThere are more: --before ${answer.next}`;
      context.print(rows, () =>
        csv === undefined ? `${tableOf(rows, statementColumns)}${more}` : csvOf(rows[0], Number(csv)),
      );
    });
}

function csvOf(found: Row | undefined, number: number): string {
  if (found?.number !== number) throw new InvalidArgumentError(`There is no statement ${number} of this account.`);
  return printedCsv(statementCsv(moneyStatement.parse(found)));
}

function earningsCommands(money: Command, context: CommandContext): void {
  withExamples(money.command("publishers").description("what each bot's publisher earned in a month, and is owed"), [
    "money publishers",
    "money publishers --month 2026-02",
  ])
    .option("--month <month>", "such as 2026-02; without it the last one that is over")
    .action(async ({ month }: { month?: string }) => {
      const { rows, answer } = await callForAllRows(context, "publishers", (after) =>
        operatorRequest("listPublisherMoney", { query: { month, after } }),
      );
      const heading = `${answer.month}, in ${answer.currency}`;
      context.print(rows, () => `${heading}\n\n${tableOf(rows, publisherColumns)}`);
    });

  withExamples(money.command("earnings").description("what a bot's publisher earned, by month, and what was paid"), [
    "money earnings 7000000001",
  ])
    .argument("<bot-id>", "Telegram id of the bot", telegramIdOption)
    .action(async (botId: string) => {
      const answer = await callForRow(context, operatorRequest("readEarnings", { params: { botId } }));
      const { currency, owedMicros } = answer;
      const owed = `\n\nowed in all: ${amountIn(owedMicros)} ${currency}`;
      context.print(answer, () => `${tableOf(rowsOf(answer, "months"), earningsColumns)}${owed}`);
    });

  withExamples(money.command("payout").description("record that a publisher was paid everything until a month's end"), [
    "money payout 7000000001 2026-02 --reference 'SEPA 4711'",
  ])
    .argument("<bot-id>", "Telegram id of the bot", telegramIdOption)
    .argument("<month>", "one that is over, such as 2026-02")
    .requiredOption("--reference <text>", "of the bank")
    .option("--note <text>", "for the statement")
    .action(async (botId: string, month: string, of: { reference: string; note?: string }) => {
      const call = operatorRequest("recordPayout", { params: { botId }, body: { month, ...of } });
      const paid = await callForRow(context, call);
      context.print(paid, () => recordOf(withAmounts(paid)));
    });
}

interface StatementOptions {
  advertiser?: string;
  botId?: string;
  before?: string;
  limit: number;
  csv?: string;
}

interface TopUpOptions {
  reference: string;
  note?: string;
  yes?: boolean;
}

interface CorrectionOptions {
  direction: string;
  against: string;
  note: string;
}

interface EntriesOptions {
  advertiser?: string;
  botId?: string;
  before?: string;
  limit: number;
}

function correction(money: Command, verb: string, description: string): Command {
  const named = verb === "correct-advertiser" ? "'The Shop'" : "7000000001";
  return withExamples(money.command(verb).description(description), [
    `money ${verb} ${named} 12.50 --direction credit --note "Goodwill for the outage of 3 March"`,
  ])
    .addOption(
      new Option("--direction <way>", "credit: the account gets the amount; debit: it gives it")
        .choices(["credit", "debit"])
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--against <account>", "revenue: the operator bears or gets it; cash: money that came in or went out")
        .choices(["revenue", "cash"])
        .default("revenue"),
    )
    .requiredOption("--note <text>", "why; it stands on the statement");
}

const columnsIn = (currency: string) => ({
  ADVERTISER: (one: Row) => one.name,
  BILLING: (one: Row) => one.billing,
  [`LIMIT ${currency}`]: (one: Row) => amountIn(one.creditLimitMicros),
  [`BALANCE ${currency}`]: (one: Row) => amountIn(one.balanceMicros),
  [`AVAILABLE ${currency}`]: (one: Row) => amountIn(one.availableMicros) ?? "no limit",
  ID: (one: Row) => one.advertiserId,
});

const statementColumns = {
  NUMBER: (one: Row) => one.number,
  MONTH: (one: Row) => one.month,
  NAME: (one: Row) => one.name,
  SIDE: (one: Row) => one.side,
  OPENING: (one: Row) => amountIn(one.openingMicros),
  CLOSING: (one: Row) => `${amountIn(one.closingMicros)} ${one.currency}`,
  ISSUED: (one: Row) => one.issuedAt,
};

const earningsColumns = {
  MONTH: (one: Row) => one.month,
  EARNED: (one: Row) => amountIn(one.earnedMicros),
  PAID: (one: Row) => one.paidAt ?? "no",
  REFERENCE: (one: Row) => one.reference,
};

const publisherColumns = {
  "BOT ID": (one: Row) => one.botId,
  NAME: (one: Row) => one.name,
  EARNED: (one: Row) => amountIn(one.earnedMicros),
  OWED: (one: Row) => amountIn(one.owedMicros),
  PAID: (one: Row) => one.paidAt ?? "no",
  REFERENCE: (one: Row) => one.reference,
};

const entryColumns = {
  AT: (entry: Row) => entry.at,
  KIND: (entry: Row) => entry.kind,
  AMOUNT: (entry: Row) => `${amountIn(entry.amountMicros)} ${entry.currency}`,
  REFERENCE: (entry: Row) => entry.reference,
  NOTE: (entry: Row) => entry.note,
  ENTRY: (entry: Row) => entry.entryId,
};
