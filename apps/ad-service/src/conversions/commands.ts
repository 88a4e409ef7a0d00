import { roundedAmount } from "@intermission/operator-api/amounts";
import { type ConversionRefusal, conversionRefusal } from "@intermission/operator-api/conversions";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { conversionRefusalsInEnglish } from "@intermission/operator-api/words-in-english";
import { withExamples } from "@intermission/server/command-line";
import { pastMomentOption, telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import { z } from "zod";

export function conversionCommands(program: Command, context: CommandContext): void {
  const conversions = program
    .command("conversions")
    .description("what advertisers report about clicks: installs, purchases and their values");

  withExamples(conversions.command("list").description("reported conversions, newest first"), [
    "conversions list --event purchase",
    "conversions list --campaign-id cmp_1 --limit 10 --json",
  ])
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .option("--campaign-id <id>", "of one campaign only")
    .option("--event <name>", "of one event only, as the advertiser names it")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ limit, ...of }: { botId?: string; campaignId?: string; event?: string; limit: number }) => {
      const query = { ...of, limit: String(limit) };
      const rows = rowsOf(await context.call(operatorRequest("listConversions", { query })), "conversions");
      context.print(rows, () => tableOf(rows, columns));
    });

  withExamples(
    conversions
      .command("sums")
      .description("conversions and their values for each event and currency; refused reports"),
    ["conversions sums", "conversions sums --from 30d --campaign-id cmp_1"],
  )
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .option("--campaign-id <id>", "of one campaign only")
    .option("--from <moment>", "such as 2026-03-01 or 7d (default: a week, today included)", pastMomentOption)
    .option("--to <moment>", "the end, exclusive (default: now)", pastMomentOption)
    .action(async ({ botId, campaignId, from, to }: SumsOptions) => {
      const query = { botId, campaignId, from: from?.toISOString(), to: to?.toISOString() };
      const answer = await callForRow(context, operatorRequest("sumConversions", { query }));
      context.print(answer, () => showSums(sumsAnswer.parse(answer)));
    });

  withExamples(
    conversions.command("reverse").description("subtract a conversion, such as an order that was cancelled; once"),
    ["conversions reverse clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70 --event purchase --conversion-id order-1"],
  )
    .argument("<click-id>", "as shown by conversions list")
    .option("--event <name>", "as shown by conversions list; none if it shows none", "")
    .option("--conversion-id <id>", "the advertiser's id; none if conversions list shows none", "")
    .action(async (clickId: string, { event, conversionId }: { event: string; conversionId: string }) => {
      const body = { clickId, event, conversionId };
      const reversed = await callForRow(context, operatorRequest("reverseConversion", { body }));
      context.print(reversed, () => recordOf(reversed));
    });
}

interface SumsOptions {
  botId?: string;
  campaignId?: string;
  from?: Date;
  to?: Date;
}

const amount = z.union([z.bigint(), z.int()]).transform(BigInt);
export const conversionSum = z.object({
  event: z.string(),
  currency: z.string(),
  conversions: z.number(),
  valueMicros: amount,
  reversed: z.number(),
  reversedMicros: amount,
});
const sumsAnswer = z.object({
  from: z.string(),
  to: z.string(),
  sums: z.array(conversionSum),
  refused: z.partialRecord(conversionRefusal, z.number()),
});

const DECIMALS = 2;

function showSums({ from, to, sums, refused }: z.infer<typeof sumsAnswer>): string {
  const reasons = Object.entries(refused).map(
    ([reason, count]) => `${conversionRefusalsInEnglish[reason as ConversionRefusal]} ${count}`,
  );
  return [
    `${textOf(from)} to ${textOf(to)}, UTC`,
    "",
    tableOf(sums, {
      EVENT: ({ event }) => event,
      CONVERSIONS: ({ conversions }) => conversions,
      VALUE: ({ valueMicros, currency }) => `${roundedAmount(valueMicros, DECIMALS)} ${currency}`,
      REVERSED: ({ reversed }) => reversed,
      "REVERSED VALUE": ({ reversedMicros, currency }) => `${roundedAmount(reversedMicros, DECIMALS)} ${currency}`,
    }),
    ...(reasons.length > 0 ? ["", `refused, of all advertisers: ${reasons.join("; ")}`] : []),
  ].join("\n");
}

const columns = {
  CLICK: (one: Row) => one.clickId,
  EVENT: (one: Row) => one.event,
  ID: (one: Row) => one.conversionId,
  CAMPAIGN: (one: Row) => one.campaignId,
  VALUE: ({ valueMicros, currency }: Row) =>
    valueMicros === null ? undefined : `${roundedAmount(amount.parse(valueMicros), DECIMALS)} ${currency}`,
  REPORTED: (one: Row) => one.occurredAt,
  REVERSED: (one: Row) => one.reversedAt,
};
