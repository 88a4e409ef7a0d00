import { roundedAmount } from "@intermission/operator-api/amounts";
import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import { conversionRefusalsInEnglish } from "@intermission/operator-api/words-in-english";
import { tableOf, textOf } from "@intermission/server/command-tables";
import { list, subject, verb, type WireAnswer } from "@intermission/server/route-commands";

const DECIMALS = 2;

export const conversionCommands = subject(
  "conversions",
  "what advertisers report about clicks: installs, purchases and their values",
  {
    list: list("listConversions", "conversions", {
      description: "reported conversions, newest first",
      examples: ["--event purchase", "--campaign-id cmp_1 --limit 10 --json"],
      options: {
        botId: "of one bot only",
        campaignId: "of one campaign only",
        event: { text: "of one event only, as the advertiser names it", value: "name" },
      },
      columns: {
        CLICK: "clickId",
        EVENT: "event",
        ID: "conversionId",
        CAMPAIGN: "campaignId",
        VALUE: ({ valueMicros, currency }) =>
          valueMicros === null ? undefined : `${roundedAmount(BigInt(valueMicros), DECIMALS)} ${currency}`,
        REPORTED: "occurredAt",
        REVERSED: "reversedAt",
      },
    }),
    sums: verb("sumConversions", {
      description: "conversions and their values for each event and currency; refused reports",
      examples: ["", "--from 30d --campaign-id cmp_1"],
      options: {
        botId: "of one bot only",
        campaignId: "of one campaign only",
        from: "such as 2026-03-01 or 7d (default: a week, today included)",
        to: "the end, exclusive (default: now)",
      },
      without: ["timeZone"],
      text: sumsText,
    }),
    reverse: verb("reverseConversion", {
      description: "subtract a conversion, such as an order that was cancelled; once",
      arguments: ["clickId"],
      examples: ["clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70 --event purchase --conversion-id order-1"],
      options: {
        clickId: "as shown by conversions list",
        event: { text: "as shown by conversions list; none if it shows none", value: "name" },
        conversionId: "the advertiser's id; none if conversions list shows none",
      },
    }),
  },
);

function sumsText({ from, to, sums, refused }: WireAnswer<"sumConversions">): string {
  const reasons = Object.entries(refused).map(
    ([reason, count]) => `${conversionRefusalsInEnglish[reason as ConversionRefusal]} ${count}`,
  );
  const amount = (micros: number, currency: string) => `${roundedAmount(BigInt(micros), DECIMALS)} ${currency}`;
  return [
    `${textOf(from)} to ${textOf(to)}, UTC`,
    "",
    tableOf(sums, {
      EVENT: "event",
      CONVERSIONS: "conversions",
      VALUE: ({ valueMicros, currency }) => amount(valueMicros, currency),
      REVERSED: "reversed",
      "REVERSED VALUE": ({ reversedMicros, currency }) => amount(reversedMicros, currency),
    }),
    ...(reasons.length > 0 ? ["", `refused, of all advertisers: ${reasons.join("; ")}`] : []),
  ].join("\n");
}
