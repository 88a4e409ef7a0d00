import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { confirmable, wholeNumber } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { type Command, Option } from "commander";
import type { BulkDecision } from "../campaigns/bulk-review.ts";
import { decide, filterQuery, withReviewFilter } from "../campaigns/bulk-review-commands.ts";

export function viewCommands(program: Command, context: CommandContext): void {
  const views = program.command("views").description("suspicious views, and what happens to held ones");

  withExamples(withReviewFilter(views.command("list").description("suspicious views, newest first")), [
    "views list --state held",
    "views list --bot-id 7000000001 --limit 10 --json",
  ])
    .addOption(new Option("--state <state>", "in one state only").choices(["held", "refused", "rewarded"]))
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async (options: Row) => {
      const query = filterQuery(options);
      const rows = rowsOf(await context.call(operatorRequest("listViews", { query })), "views");
      context.print(rows, () => tableOf(rows, columns));
    });

  const decisions = {
    release: "pay a held view: its event is made now",
    refuse: "refuse a held view for good",
    refund: "refund the advertiser for a paid view",
  } satisfies Record<BulkDecision, string>;
  for (const [verb, description] of Object.entries(decisions)) {
    const command = views.command(verb).description(`${description}; or all that a filter selects`);
    withExamples(confirmable(withReviewFilter(command)), [
      `views ${verb} 7000000001-4YR9Tq2LmXw8KcYd3Rt6VbNs5`,
      `views ${verb} --bot-id 7000000001 --suspicion too-even --from 2d`,
    ])
      .argument("[view-id]", "as shown by views list")
      .action((id: string | undefined, options: object) =>
        decide(context, command, { what: "views", verb: verb as BulkDecision, id, options }),
      );
  }
}

const columns = {
  VIEW: (view: Row) => view.sessionId,
  USER: (view: Row) => view.userId,
  CAMPAIGN: (view: Row) => view.campaignId,
  STATE: (view: Row) => (view.refundedAt ? `${view.state}, refunded` : view.state),
  "WHAT LOOKS WRONG": (view: Row) => view.suspicions,
  "CLOSED AT": (view: Row) => view.closedAt,
};
