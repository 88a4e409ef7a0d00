import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function userCommands(program: Command, context: CommandContext): void {
  const users = program.command("users").description("people who used a bot");

  withExamples(users.command("erase").description("count what is kept of a user; with --yes erase it for good"), [
    "users erase --bot-id 7000000001 --user-id 100000001",
    "users erase --bot-id 7000000001 --user-id 100000001 --yes",
  ])
    .requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption)
    .requiredOption("--user-id <id>", "Telegram id of the user", telegramIdOption)
    .option("--yes", "erase it; without it, the records are only counted")
    .action(async ({ botId, userId, yes = false }: { botId: string; userId: string; yes?: boolean }) => {
      const path = `/bots/${botId}/users/${userId}`;
      const answer = await callForRow(context, { method: yes ? "DELETE" : "GET", path });
      context.print(answer, () => told(answer, userId));
    });
}

function told(answer: Row, userId: string): string {
  const tables = rowsOf(answer, "tables");
  if (tables.length === 0) return `nothing is kept of user ${userId}`;
  const { undelivered } = answer;
  const webhooks = Number(undelivered) > 0 ? `${undelivered} webhooks that were not delivered` : undefined;
  const end = answer.isErased
    ? ["Erased for good.", ...(webhooks ? [`${webhooks} were cancelled.`] : [])]
    : [
        "Nothing was changed. Erase it for good with: --yes",
        ...(webhooks ? [`${webhooks} would be cancelled, and not paid: wait for them, or see: deliveries list`] : []),
      ];
  return `${tableOf(tables, columns)}\n\n${end.join("\n")}`;
}

const columns = {
  TABLE: (table: Row) => table.table,
  ROWS: (table: Row) => table.rows,
  BECOMES: (table: Row) => table.becomes,
};
