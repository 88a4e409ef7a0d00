import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { type Row, recordOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForAllRows, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function advertiserCommands(program: Command, context: CommandContext): void {
  const advertisers = program.command("advertisers").description("advertisers, and the keys of their postbacks");

  withExamples(advertisers.command("list").description("all advertisers that campaigns name"), [
    "advertisers list",
  ]).action(async () => {
    const { rows } = await callForAllRows(context, "advertisers", (after) =>
      operatorRequest("listAdvertisers", { query: { after } }),
    );
    context.print(rows, () => tableOf(rows, columns));
  });

  withExamples(
    advertisers.command("key").description("make a new key for postbacks; the previous one is void immediately"),
    ["advertisers key 'The Shop'"],
  )
    .argument("<advertiser>", "its name in the campaigns, in any case")
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
    .argument("<advertiser>", "its name in the campaigns, in any case")
    .argument("<new-name>", "shown to viewers from now on")
    .action(async (advertiser: string, newName: string) => {
      const input = { params: { advertiser }, body: { newName } };
      const renamed = await callForRow(context, operatorRequest("renameAdvertiser", input));
      context.print(renamed, () => recordOf(renamed));
    });
}

const columns = {
  ADVERTISER: (advertiser: Row) => advertiser.name,
  CAMPAIGNS: (advertiser: Row) => advertiser.campaigns,
  CONVERSIONS: (advertiser: Row) => advertiser.conversions,
  KEY: (advertiser: Row) => advertiser.hasPostbackKey,
  ADDED: (advertiser: Row) => advertiser.createdAt,
};
