import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { type Row, recordOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function advertiserCommands(program: Command, context: CommandContext): void {
  const advertisers = program.command("advertisers").description("advertisers, and the keys of their postbacks");

  withExamples(advertisers.command("list").description("all advertisers"), ["advertisers list"]).action(async () => {
    const { rows } = await callForAllRows(context, "advertisers", (after) =>
      operatorRequest("listAdvertisers", { query: { after } }),
    );
    context.print(rows, () => tableOf(rows, columns));
  });

  withExamples(
    advertisers.command("key").description("make a new key for postbacks; the previous one is void immediately"),
    ["advertisers key 'The Shop'"],
  )
    .argument("<advertiser>", "its id, or its name in any case")
    .action(async (advertiser: string) => {
      const issued = await callForRow(context, operatorRequest("issuePostbackKey", { params: { advertiser } }));
      context.print(
        issued,
        () =>
          `${recordOf(issued)}\n\nIt is shown once. Conversions go to /postback/v1/conversions?click_id={click_id}&key=…`,
      );
    });

  withExamples(
    advertisers.command("rename").description("change the name; campaigns, the key and the bots that block it stay"),
    ["advertisers rename 'The Shop' 'The New Shop'"],
  )
    .argument("<advertiser>", "its id, or its name in any case")
    .argument("<new-name>", "shown to viewers from now on")
    .action(async (advertiser: string, newName: string) => {
      const input = { params: { advertiser }, body: { name: newName } };
      const renamed = await callForRow(context, operatorRequest("updateAdvertiser", input));
      context.print(renamed, () => recordOf(renamed));
    });

  withExamples(advertisers.command("add").description("add an advertiser before its first campaign"), [
    "advertisers add 'The Shop'",
  ])
    .argument("<name>", "shown to viewers")
    .action(async (name: string) => {
      const added = await callForRow(context, operatorRequest("addAdvertiser", { body: { name } }));
      context.print(added, () => recordOf(added));
    });

  for (const { verb, route, description } of stateChanges) {
    withExamples(advertisers.command(verb).description(description), [`advertisers ${verb} 'The Shop'`])
      .argument("<advertiser>", "its id, or its name in any case")
      .action(async (advertiser: string) => {
        const changed = await callForRow(context, operatorRequest(route, { params: { advertiser } }));
        context.print(changed, () => recordOf(changed));
      });
  }
}

const stateChanges = [
  { verb: "archive", route: "archiveAdvertiser", description: "stop all its campaigns; its statistics and money stay" },
  { verb: "restore", route: "restoreAdvertiser", description: "undo archive: its active campaigns run again" },
] as const;

const columns = {
  ADVERTISER: (advertiser: Row) => advertiser.name,
  CAMPAIGNS: (advertiser: Row) => advertiser.campaigns,
  CONVERSIONS: (advertiser: Row) => advertiser.conversions,
  KEY: (advertiser: Row) => advertiser.hasPostbackKey,
  ADDED: (advertiser: Row) => advertiser.createdAt,
  STATE: (advertiser: Row) => advertiser.state,
  ID: (advertiser: Row) => advertiser.advertiserId,
};
