import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type Command, Option } from "commander";
import { type CommandContext, callForRow } from "../operator-client.ts";
import { replayDeliveriesCommand } from "./replay-commands.ts";
import { showDelivery } from "./show-delivery-command.ts";

const states = ["waiting", "sending", "delivered", "failed", "held", "unknown"];

export function deliveryCommands(program: Command, context: CommandContext): void {
  const deliveries = program.command("deliveries").description("webhooks: what was sent, and what was answered");

  withExamples(deliveries.command("list").description("deliveries, newest first"), [
    "deliveries list --bot-id 7000000001 --state failed",
    "deliveries list --limit 10 --json",
  ])
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .addOption(new Option("--state <state>", "in one state only").choices(states))
    .option("--before <event-id>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ botId, state, before, limit }: ListOptions) => {
      const query = { botId, state, before, limit: String(limit) };
      const rows = rowsOf(await context.call({ method: "GET", path: "/deliveries", query }), "deliveries");
      const more = rows.length === limit ? `\n\nThere may be more: --before ${rows.at(-1)?.eventId}` : "";
      context.print(rows, () => `${tableOf(rows, columns)}${more}`);
    });

  withExamples(
    deliveries.command("show").description("show a delivery, its body, each attempt, and the reason for its state"),
    ["deliveries show evt_01932f6e-7b1c-7f2a-9c3d-5e6f708192a3"],
  )
    .argument("<event-id>", "as shown by deliveries list")
    .action(async (eventId: string) => {
      const path = `/deliveries/${encodeURIComponent(eventId)}`;
      const delivery = await callForRow(context, { method: "GET", path });
      context.print(delivery, () => showDelivery(delivery));
    });

  replayDeliveriesCommand(deliveries, context);
}

interface ListOptions {
  botId?: string;
  state?: string;
  before?: string;
  limit: number;
}

const columns = {
  EVENT: (delivery: Row) => delivery.eventId,
  BOT: (delivery: Row) => delivery.botId,
  KIND: (delivery: Row) => (delivery.isTest ? "test" : delivery.event),
  USER: (delivery: Row) => delivery.userId,
  STATE: (delivery: Row) => delivery.state,
  ATTEMPTS: (delivery: Row) => delivery.attempts,
  "NEXT AT": (delivery: Row) => delivery.dueAt,
};
