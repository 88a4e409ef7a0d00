import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { confirmable, wholeNumber } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import type { BulkDecision } from "../campaigns/bulk-review.ts";
import { decide, filterQuery, withReviewFilter } from "../campaigns/bulk-review-commands.ts";

export function clickCommands(program: Command, context: CommandContext): void {
  const clicks = program
    .command("clicks")
    .description("suspicious clicks of direct links, and what happens to held ones");

  withExamples(withReviewFilter(clicks.command("list").description("suspicious clicks, newest first")), [
    "clicks list --state held",
    "clicks list --bot-id 7000000001 --limit 10 --json",
  ])
    .option("--address <hash>", "from this address of a day, as the list shows it")
    .option("--network <hash>", "from this network of a day, as the list shows it")
    .addOption(new Option("--state <state>", "in one state only").choices(["held", "refused", "counted"]))
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async (options: Row) => {
      const query = filterQuery(options);
      const rows = rowsOf(await context.call(operatorRequest("listClicks", { query })), "clicks");
      context.print(rows, () => tableOf(rows, columns));
    });

  const decisions = {
    release: "pay a held click: its event is made now",
    refuse: "refuse a held click for good",
    refund: "refund the advertiser for a counted click",
  } satisfies Record<BulkDecision, string>;
  for (const [verb, description] of Object.entries(decisions)) {
    const command = clicks.command(verb).description(`${description}; or all that a filter selects`);
    withExamples(confirmable(withReviewFilter(command)), [
      `clicks ${verb} clk_01969f2c-3f00-7c3e-8f4e-2b9a1d6c5e70`,
      `clicks ${verb} --bot-id 7000000001 --suspicion crowded-network --from 2d`,
    ])
      .option("--address <hash>", "from this address of a day, as the list shows it")
      .option("--network <hash>", "from this network of a day, as the list shows it")
      .argument("[click-id]", "as shown by clicks list")
      .action((id: string | undefined, options: object) =>
        decide(context, command, { what: "clicks", verb: verb as BulkDecision, id, options }),
      );
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
