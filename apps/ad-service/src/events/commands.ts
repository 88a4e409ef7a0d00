import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function eventCommands(program: Command, context: CommandContext): void {
  const events = program.command("events").description("what users earned");

  withExamples(events.command("list").description("events of a bot, oldest first"), [
    "events list --bot-id 7000000001",
    "events list --bot-id 7000000001 --after MTIzLmV2dF8 --limit 1000 --json",
  ])
    .requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption)
    .option("--after <cursor>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 100)
    .action(async ({ botId, after, limit }: { botId: string; after?: string; limit: number }) => {
      const query = { after, limit: String(limit) };
      const page = await callForRow(context, { method: "GET", path: `/bots/${botId}/events`, query });
      const more = page.hasMore ? `\n\nThere are more: --after ${page.next}` : "";
      context.print(page, () => `${tableOf(rowsOf(page, "events"), columns)}${more}`);
    });
}

const columns = {
  EVENT: (event: Row) => event.event_id,
  KIND: (event: Row) => event.event,
  USER: (event: Row) => event.user_tg_id,
  CODE: (event: Row) => event.code,
  "EARNED AT": (event: Row) => event.occurred_at,
  DELIVERY: (event: Row) => event.delivery,
};
