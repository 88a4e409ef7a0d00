import { billings } from "@intermission/operator-api/money";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import {
  amountOption,
  confirmable,
  confirmedQuery,
  telegramIdOption,
  wholeNumber,
} from "@intermission/server/command-options";
import { amountIn, type Row, recordOf, rowsOf, tableOf, withAmounts } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";

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
    .argument("<amount>", "in the currency of the deployment", amountOption("budget"))
    .requiredOption("--reference <text>", "of the bank or the invoice")
    .option("--note <text>", "for the statement")
    .action(async (advertiser: string, amountMicros: number, { yes, ...of }: TopUpOptions) => {
      const input = { params: { advertiser }, query: confirmedQuery({ yes }), body: { amountMicros, ...of } };
      show(await callForRow(context, operatorRequest("recordTopUp", input)));
    });

  correction(money, "correct-advertiser", "correct an advertiser's account, by an entry of its own")
    .argument("<advertiser>", advertiserHelp)
    .argument("<amount>", "in the currency of the deployment", amountOption("budget"))
    .action(async (advertiser: string, amountMicros: number, of: CorrectionOptions) => {
      const input = { params: { advertiser }, body: { amountMicros, ...of } };
      show(await callForRow(context, operatorRequest("correctAdvertiser", input)));
    });
  correction(money, "correct-publisher", "correct what a bot's publisher is owed, by an entry of its own")
    .argument("<bot-id>", "Telegram id of the bot", telegramIdOption)
    .argument("<amount>", "in the currency of the deployment", amountOption("budget"))
    .action(async (botId: string, amountMicros: number, of: CorrectionOptions) => {
      const input = { params: { botId }, body: { amountMicros, ...of } };
      show(await callForRow(context, operatorRequest("correctPublisher", input)));
    });

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

const entryColumns = {
  AT: (entry: Row) => entry.at,
  KIND: (entry: Row) => entry.kind,
  AMOUNT: (entry: Row) => `${amountIn(entry.amountMicros)} ${entry.currency}`,
  REFERENCE: (entry: Row) => entry.reference,
  NOTE: (entry: Row) => entry.note,
  ENTRY: (entry: Row) => entry.entryId,
};
