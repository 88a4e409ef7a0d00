import { type CommandContext, withExamples } from "@intermission/server/command-line";
import { limitUpTo, pastMomentOption, telegramIdOption } from "@intermission/server/command-options";
import { tableOf } from "@intermission/server/command-tables";
import { type Command, Option } from "commander";
import { type Receipt, type ReceiptQuery, type ReceiptVerbs, type RefusalCount, receiptOutcomes } from "../verbs.ts";

export function receiptCommands(program: Command, context: CommandContext<ReceiptVerbs>): void {
  const receipts = program.command("receipts").description("received webhooks and their outcomes");

  withExamples(
    receipts.command("list").description("signed webhooks, newest first, with the reason if one was not paid"),
    ["receipts list --outcome unmatched --since 24h", "receipts list --user-id 123456789 --limit 10 --json"],
  )
    .addOption(
      new Option("--outcome <outcome>", "of one outcome only; duplicate: received more than once").choices([
        ...receiptOutcomes,
        "duplicate",
      ]),
    )
    .option("--user-id <id>", "of one user only", telegramIdOption)
    .option("--since <time>", "since then: 90m, 24h, 7d, or a date-time", pastMomentOption)
    .option("--limit <number>", "at most this many, up to 1000", limitUpTo(1000), 50)
    .action(async (query: ReceiptQuery) => {
      const client = await context.client();
      const listed = await client.listReceipts(query);
      const since = query.since ?? new Date(Date.now() - 24 * 3_600_000);
      const refused = summaryOf(await client.listRefusals(since));
      const footer = `Refused before a signature was verified, since ${since.toISOString().slice(0, 16)}Z: ${refused}`;
      context.print(listed, () => `${tableOf(listed, receiptColumns)}\n\n${footer}`);
    });

  withExamples(
    receipts
      .command("refused")
      .description("the number of webhooks without a valid signature, by hour and reason; their content is not kept"),
    ["receipts refused", "receipts refused --since 7d --json"],
  )
    .option("--since <time>", "since then: 90m, 24h, 7d, or a date-time (default: 24h)", pastMomentOption)
    .action(async ({ since = pastMomentOption("24h") }: { since?: Date }) => {
      const refused = await (await context.client()).listRefusals(since);
      context.print(refused, () => tableOf(refused, refusalColumns));
    });
}

const receiptColumns: Record<string, (receipt: Receipt) => string | number | null> = {
  "RECEIVED AT": ({ receivedAt }) => receivedAt,
  OUTCOME: ({ outcome }) => outcome,
  REASON: ({ reason }) => reason,
  KIND: ({ event }) => event,
  USER: ({ userId }) => userId,
  CODE: ({ code }) => code,
  AMOUNT: ({ amount }) => amount,
  WORTH: ({ revenueMicros, currency }) => (revenueMicros === null ? null : `${revenueMicros / 1_000_000} ${currency}`),
  DUPLICATES: ({ duplicates }) => (duplicates === 0 ? null : duplicates),
  "LAST DUPLICATE": ({ lastDuplicateAt }) => lastDuplicateAt,
  EVENT: ({ eventId }) => eventId,
};

const refusalColumns: Record<string, (count: RefusalCount) => string | number | null> = {
  HOUR: ({ hour }) => hour,
  REASON: ({ reason }) => reason,
  REFUSED: ({ refused }) => refused,
  LAST: ({ lastAt }) => lastAt,
};

function summaryOf(counts: readonly RefusalCount[]): string {
  const byReason = new Map<string, number>();
  for (const { reason, refused } of counts) byReason.set(reason, (byReason.get(reason) ?? 0) + refused);
  return [...byReason].map(([reason, refused]) => `${refused} ${reason}`).join(", ") || "none";
}
