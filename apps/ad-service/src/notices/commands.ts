import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption } from "@intermission/server/command-options";
import { recordOf, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

const columns = ["channel", "address", "health", "lastSentAt", "dueAt", "attempts", "lastError"];

export function noticeCommands(program: Command, context: CommandContext): void {
  const notices = program
    .command("notices")
    .description("who is told when the endpoint of a bot fails, recovers or is disabled");
  const print = (answer: Awaited<ReturnType<typeof callForRow>>) =>
    context.print(answer, () => {
      const receivers = rowsOf(answer, "receivers");
      if (receivers.length === 0) return recordOf({ ...answer, receivers: "none; add one with: notices set" });
      return tableOf(
        receivers,
        Object.fromEntries(
          columns.map((column) => [column.toUpperCase(), (row: Record<string, unknown>) => row[column]]),
        ),
      );
    });
  const ofBot = (command: Command, examples: readonly string[]) =>
    withExamples(command, examples).argument("<bot-id>", "Telegram id of the bot", telegramIdOption);

  ofBot(notices.command("show").description("show these addresses, and why a notice was not sent"), [
    "notices show 7000000001",
  ]).action(async (botId: string) =>
    print(await callForRow(context, operatorRequest("showNotices", { params: { botId } }))),
  );

  ofBot(notices.command("set").description("set these addresses, one for each channel"), [
    "notices set 7000000001 --webhook-url https://ops.example.com/endpoint-health",
    "notices set 7000000001 --email ops@example.com --telegram-chat-id none",
  ])
    .option("--webhook-url <url>", "an address other than the bot's webhook, sent signed JSON; none removes it")
    .option("--email <address>", "sent by the mail server in SMTP_URL; none removes it")
    .option("--telegram-chat-id <id>", "sent by the bot in NOTICE_BOT_TOKEN; none removes it")
    .action(async (botId: string, options: Record<string, string>) => {
      const body = Object.fromEntries(
        Object.entries(options).map(([name, value]) => [name, value === "none" ? null : value]),
      );
      print(await callForRow(context, operatorRequest("setNotices", { params: { botId }, body })));
    });
}
