import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { recordOf, row, rowsOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

const NONE = "There is no sample traffic.";

export function sampleCommands(program: Command, context: CommandContext): void {
  const sample = program.command("sample").description("two weeks of sample traffic, for trying the console");

  withExamples(sample.command("add").description("add it, or finish adding it"), ["sample add"]).action(async () => {
    const added = await callForRow(context, operatorRequest("addSample"));
    context.print(added, () => `${describe(added.sample)}\n\nOne command removes all of it: ads sample remove`);
  });

  withExamples(sample.command("show").description("which sample traffic there is"), ["sample show"]).action(
    async () => {
      const shown = await callForRow(context, operatorRequest("showSample"));
      context.print(shown, () => (shown.sample === null ? NONE : describe(shown.sample)));
    },
  );

  withExamples(
    sample.command("remove").description("remove it with its bots, advertisers, campaigns, statistics and money"),
    ["sample remove"],
  ).action(async () => {
    const removed = await callForRow(context, operatorRequest("removeSample"));
    context.print(removed, () => (removed.removed ? "The sample traffic is removed; nothing of it is left." : NONE));
  });
}

function describe(sample: unknown): string {
  const { state, startsAt, endsAt, ...objects } = row.parse(sample);
  const namesOf = (list: "bots" | "advertisers") =>
    rowsOf(objects, list)
      .map(({ name }) => String(name))
      .join(", ");
  return recordOf({ state, from: startsAt, until: endsAt, bots: namesOf("bots"), advertisers: namesOf("advertisers") });
}
