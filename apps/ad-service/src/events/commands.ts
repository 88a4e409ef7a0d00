import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { pastMomentOption, telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";

export function eventCommands(program: Command, context: CommandContext): void {
  const events = program.command("events").description("what users earned");

  withExamples(events.command("list").description("events of a bot, newest first, or with --after oldest first"), [
    "events list --bot-id 7000000001",
    "events list --bot-id 7000000001 --user-id 100000001 --from 2d",
    "events list --bot-id 7000000001 --after start --limit 1000 --json",
  ])
    .requiredOption("--bot-id <id>", "Telegram id of the bot", telegramIdOption)
    .option("--user-id <id>", "of one user only", telegramIdOption)
    .option("--from <moment>", "such as 2026-03-01 or 2h", pastMomentOption)
    .option("--to <moment>", "the end, exclusive", pastMomentOption)
    .addOption(new Option("--before <event-id>", "continue where an earlier list ended"))
    .addOption(
      new Option(
        "--after <cursor>",
        "the publisher's feed in the order of commits, from this cursor on, or from its start",
      ).conflicts(["userId", "from", "to", "before"]),
    )
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 100)
    .action(async ({ botId, after, limit, ...of }: ListOptions) => {
      if (after !== undefined) {
        const query = { after: after === "start" ? undefined : after, limit: String(limit) };
        const page = await callForRow(context, operatorRequest("listEventsOfBot", { params: { botId }, query }));
        const more = page.hasMore ? `\n\nThere are more: --after ${page.next}` : "";
        return context.print(page, () => `${tableOf(rowsOf(page, "events"), columns)}${more}`);
      }
      const { userId, before, from, to } = of;
      const time = { from: from?.toISOString(), to: to?.toISOString() };
      const query = { userId, before, ...time, limit: String(limit) };
      const page = await callForRow(context, operatorRequest("listLatestEventsOfBot", { params: { botId }, query }));
      const events = rowsOf(page, "events");
      const more = page.hasMore ? `\n\nThere are more: --before ${events.at(-1)?.event_id}` : "";
      context.print(page, () => `${tableOf(events, columns)}${more}`);
    });
}

interface ListOptions {
  botId: string;
  userId?: string;
  from?: Date;
  to?: Date;
  before?: string;
  after?: string;
  limit: number;
}

const columns = {
  EVENT: (event: Row) => event.event_id,
  KIND: (event: Row) => `${event.event}${event.test === true ? " (test)" : ""}`,
  USER: (event: Row) => event.user_tg_id,
  CODE: (event: Row) => event.code,
  "EARNED AT": (event: Row) => event.occurred_at,
  DELIVERY: (event: Row) => event.delivery,
};
