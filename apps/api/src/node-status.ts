import { describeStore } from "@intermission/postgres/describe-store";
import type { Runner } from "@intermission/postgres/open-database";
import { buildVersion } from "@intermission/server/build-identity";
import { type CommandContext, withExamples } from "@intermission/server/command-line";
import { recordOf } from "@intermission/server/command-tables";
import type { Command } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { NodeStatus } from "./verbs.ts";

/** Which version runs (by default read now), and on which store. */
export async function statusOf(
  database: Pick<Runner, "run">,
  version = buildVersion(manifest.version),
): Promise<NodeStatus> {
  const { schema, ...store } = await describeStore(database);
  return { version, schema, store };
}

export function statusCommand(program: Command, context: CommandContext<{ status(): Promise<NodeStatus> }>): void {
  withExamples(
    program.command("status").description("which versions run, and which store the other commands work on"),
    ["status", "status --json"],
  ).action(async () => {
    const { version, ...rest } = await (await context.client()).status();
    const commandLine = buildVersion(manifest.version);
    context.print({ version, ...rest, commandLine }, () =>
      recordOf({ "command line": commandLine, server: version, ...rest }),
    );
  });
}
