import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { recordOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };

export function statusCommand(program: Command, context: CommandContext): void {
  withExamples(
    program.command("status").description("which versions run, and which store the other commands work on"),
    ["status", "status --json"],
  ).action(async () => {
    const status = await callForRow(context, operatorRequest("showStatus"));
    const { store, version, ...rest } = status;
    const shown = { "command line": manifest.version, server: version, ...rest, store };
    context.print({ ...status, commandLine: manifest.version }, () => recordOf(shown));
  });
}
