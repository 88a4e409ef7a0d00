import { type CommandContext, OperatorRefusal, withExamples } from "@intermission/server/command-line";
import { telegramIdOption } from "@intermission/server/command-options";
import { tableOf } from "@intermission/server/command-tables";
import type { Command } from "commander";
import type { UserErasure, UserVerbs } from "../verbs.ts";

export function userCommands(program: Command, context: CommandContext<UserVerbs>): void {
  const users = program.command("users").description("people who used the bot");

  withExamples(users.command("erase").description("count what is kept of a user; with --yes erase it for good"), [
    "users erase --user-id 123456789",
    "users erase --user-id 123456789 --yes",
  ])
    .requiredOption("--user-id <id>", "Telegram id of the user", telegramIdOption)
    .option("--bot-id <id>", "Telegram id of the bot; refused if this store is another bot's", telegramIdOption)
    .option("--yes", "erase it; without it, the records are only counted")
    .action(async ({ userId, botId, yes = false }: { userId: string; botId?: string; yes?: boolean }) => {
      const client = await context.client();
      // Counted first: the answer names the bot before anything changes.
      const kept = await client.eraseUser(userId, false);
      if (botId !== undefined && kept.botId !== botId) {
        throw new OperatorRefusal(
          409,
          "CONFLICT",
          `this is the companion API of bot ${kept.botId}, not of --bot-id ${botId}`,
        );
      }
      const answer = yes ? await client.eraseUser(userId, true) : kept;
      context.print(answer, () => summaryOf(answer));
    });
}

function summaryOf({ userId, isErased, tables }: UserErasure): string {
  if (tables.length === 0) return `nothing is kept of user ${userId}`;
  const end = isErased ? "Erased for good." : "Nothing was changed. Erase it for good with: --yes";
  return `${tableOf(tables, columns)}\n\n${end}`;
}

const columns: Record<string, (row: UserErasure["tables"][number]) => string | number> = {
  TABLE: ({ table }) => table,
  ROWS: ({ rows }) => rows,
  BECOMES: ({ becomes }) => becomes,
};
