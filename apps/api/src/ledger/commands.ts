import type { RewardEntry } from "@intermission/publisher/companion";
import { type CommandContext, withExamples } from "@intermission/server/command-line";
import { limitUpTo, telegramIdOption } from "@intermission/server/command-options";
import { tableOf } from "@intermission/server/command-tables";
import type { Command } from "commander";
import type { LedgerVerbs } from "../verbs.ts";

export function rewardCommands(
  program: Command,
  context: CommandContext<Pick<LedgerVerbs, "listRewards" | "getBalance">>,
): void {
  const rewards = program.command("rewards").description("the ledger: what was paid and spent");

  withExamples(rewards.command("list").description("entries, newest first"), [
    "rewards list --user-id 123456789",
    "rewards list --limit 100 --json",
  ])
    .option("--user-id <id>", "of one user only", telegramIdOption)
    .option("--cursor <cursor>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 100", limitUpTo(100), 50)
    .action(async ({ userId, cursor, limit }: { userId?: string; cursor?: string; limit: number }) => {
      const page = await (await context.client()).listRewards({ userId, cursor, limit });
      const more = page.next === null ? "" : `\n\nThere are more: --cursor ${page.next}`;
      context.print(page, () => `${tableOf(page.entries, entryColumns)}${more}`);
    });

  withExamples(rewards.command("balance").description("a user's balance"), ["rewards balance 123456789"])
    .argument("<user-id>", "Telegram id of the user", telegramIdOption)
    .action(async (userId: string) => {
      const balance = await (await context.client()).getBalance(userId);
      context.print({ userId, balance }, () => String(balance));
    });
}

const entryColumns: Record<string, (entry: RewardEntry) => string | number | null> = {
  "RECORDED AT": ({ recordedAt }) => recordedAt,
  USER: ({ userId }) => userId,
  KIND: ({ event }) => event ?? "spend",
  AMOUNT: ({ amount }) => amount,
  BALANCE: ({ balance }) => balance,
  REASON: ({ reason }) => reason,
  CODE: ({ code }) => code,
  EVENT: ({ eventId }) => eventId,
};
