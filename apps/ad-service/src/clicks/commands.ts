import { withExamples } from "@intermission/server/command-line";
import { telegramIdOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, recordOf, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";

export function clickCommands(program: Command, context: CommandContext): void {
  const clicks = program
    .command("clicks")
    .description("suspicious clicks of direct links, and what happens to held ones");

  withExamples(clicks.command("list").description("suspicious clicks, newest first"), [
    "clicks list --state held",
    "clicks list --bot-id 7000000001 --limit 10 --json",
  ])
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .addOption(new Option("--state <state>", "in one state only").choices(["held", "refused", "counted"]))
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ botId, state, limit }: { botId?: string; state?: string; limit: number }) => {
      const query = { botId, state, limit: String(limit) };
      const rows = rowsOf(await context.call({ method: "GET", path: "/clicks", query }), "clicks");
      context.print(rows, () => tableOf(rows, columns));
    });

  const decisions = {
    release: "pay a held click: its event is made now",
    refuse: "refuse a held click for good",
    refund: "refund the advertiser for a counted click",
  };
  for (const [verb, description] of Object.entries(decisions)) {
    const example = `clicks ${verb} clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70`;
    withExamples(clicks.command(verb).description(description), [example])
      .argument("<click-id>", "as shown by clicks list")
      .action(async (clickId: string) => {
        const path = `/clicks/${encodeURIComponent(clickId)}/${verb}`;
        const decided = await callForRow(context, { method: "POST", path });
        context.print(decided, () => recordOf(decided));
      });
  }
}

const columns = {
  CLICK: (click: Row) => click.clickId,
  USER: (click: Row) => click.userId,
  CAMPAIGN: (click: Row) => click.campaignId,
  STATE: (click: Row) => (click.refundedAt ? `${click.state}, refunded` : click.state),
  "WHAT LOOKS WRONG": (click: Row) => click.suspicions,
  ADDRESS: (click: Row) => click.address,
  NETWORK: (click: Row) => click.network,
  AT: (click: Row) => click.occurredAt,
};
