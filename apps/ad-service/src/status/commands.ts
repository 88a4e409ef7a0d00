import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { recordOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };

const keptRows = z.array(z.object({ rows: z.string(), days: z.int() }));

export function statusCommand(program: Command, context: CommandContext): void {
  withExamples(
    program.command("status").description("which versions run, and which store the other commands work on"),
    ["status", "status --json"],
  ).action(async () => {
    const status = await callForRow(context, operatorRequest("showStatus"));
    const { store, version, schema, partitionsUntil, kept } = status;
    const keptFor = Object.fromEntries(keptRows.parse(kept).map(({ rows, days }) => [rows, `${days} days`]));
    const versions = { "command line": manifest.version, server: version, schema, store };
    const shown = { ...versions, "partitions until": partitionsUntil, kept: keptFor };
    context.print({ ...status, commandLine: manifest.version }, () => recordOf(shown));
  });
}
