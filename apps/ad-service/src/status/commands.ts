import type { ReportReplica } from "@intermission/operator-api/status";
import { buildVersion } from "@intermission/server/build-identity";
import { withExamples } from "@intermission/server/command-line";
import { recordOf, tableOf } from "@intermission/server/command-tables";
import type { CommandContext } from "@intermission/server/operator-client";
import { callRoute, verb } from "@intermission/server/route-commands";
import type { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };

export function systemCommand(program: Command, context: CommandContext): void {
  const add = verb("showSystem", {
    description: "the nodes, what waits, how far sums have counted, the server's settings",
    text: ({ nodes, queues, progress, settings }) => {
      const counted = progress.map(({ what, until }) => [`${what} counted until`, until]);
      return [
        tableOf(nodes, { NODE: "name", VERSION: "version", STARTED: "startedAt", SEEN: "seenAt" }),
        recordOf({ ...queues, ...Object.fromEntries(counted) }),
        tableOf(settings, {
          SETTING: "name",
          VALUE: ({ isSecret, isSet, value }) => (isSecret ? (isSet ? "set" : "not set") : value),
          FROM: ({ isSet }) => (isSet ? "environment" : "default"),
        }),
      ].join("\n\n");
    },
  });
  add(program.command("system"), context);
}

/** Where reports are read now, in one line. */
function placeOfReports({ server, state, lagSeconds, reason }: ReportReplica): string {
  const lag = lagSeconds === null ? (reason ?? "nothing replayed yet") : `${lagSeconds} s behind`;
  return state === "following"
    ? `from the replica ${server}, ${lag}`
    : `from the primary: the replica ${server} is ${state} (${lag})`;
}

export function statusCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("status")
    .description("which versions run, and which store the other commands work on");
  withExamples(command, ["status", "status --json"]).action(async () => {
    const status = await callRoute(context, "showStatus");
    const { store, version, schema, partitionsUntil, kept, reportReplica: replica } = status;
    const shown = {
      "command line": buildVersion(manifest.version),
      server: version,
      schema,
      store,
      ...(replica !== undefined && { reports: placeOfReports(replica) }),
      "partitions until": partitionsUntil,
      kept: Object.fromEntries(kept.map(({ rows, days }) => [rows, `${days} days`])),
    };
    context.print({ ...status, commandLine: buildVersion(manifest.version) }, () => recordOf(shown));
  });
}
