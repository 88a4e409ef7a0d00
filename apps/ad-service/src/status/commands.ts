import { operatorRequest } from "@intermission/operator-api/operator-request";
import { reportReplica } from "@intermission/operator-api/status";
import { withExamples } from "@intermission/server/command-line";
import { type Row, recordOf, row, rowsOf, tableOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import { z } from "zod";
import manifest from "../../package.json" with { type: "json" };

const nodeColumns = {
  NODE: (node: Row) => node.name,
  VERSION: (node: Row) => node.version,
  STARTED: (node: Row) => node.startedAt,
  SEEN: (node: Row) => node.seenAt,
};
const settingColumns = {
  SETTING: (setting: Row) => setting.name,
  VALUE: (setting: Row) => (setting.isSecret === true ? (setting.isSet === true ? "set" : "not set") : setting.value),
  FROM: (setting: Row) => (setting.isSet === true ? "environment" : "default"),
};

const keptRows = z.array(z.object({ rows: z.string(), days: z.int() }));

export function systemCommand(program: Command, context: CommandContext): void {
  withExamples(
    program.command("system").description("the nodes, what waits, how far sums have counted, the server's settings"),
    ["system", "system --json"],
  ).action(async () => {
    const system = await callForRow(context, operatorRequest("showSystem"));
    const progress = rowsOf(system, "progress").map(({ what, until }) => [`${String(what)} counted until`, until]);
    context.print(system, () =>
      [
        tableOf(rowsOf(system, "nodes"), nodeColumns),
        recordOf({ ...row.parse(system.queues), ...Object.fromEntries(progress) }),
        tableOf(rowsOf(system, "settings"), settingColumns),
      ].join("\n\n"),
    );
  });
}

/** Where reports are read now, in one line. */
function placeOfReports(of: unknown): string {
  const { server, state, lagSeconds, reason } = reportReplica.parse(of);
  const lag = lagSeconds === null ? (reason ?? "nothing replayed yet") : `${lagSeconds} s behind`;
  return state === "following"
    ? `from the replica ${server}, ${lag}`
    : `from the primary: the replica ${server} is ${state} (${lag})`;
}

export function statusCommand(program: Command, context: CommandContext): void {
  withExamples(
    program.command("status").description("which versions run, and which store the other commands work on"),
    ["status", "status --json"],
  ).action(async () => {
    const status = await callForRow(context, operatorRequest("showStatus"));
    const { store, version, schema, partitionsUntil, kept, reportReplica: replica } = status;
    const keptFor = Object.fromEntries(keptRows.parse(kept).map(({ rows, days }) => [rows, `${days} days`]));
    const shown = {
      "command line": manifest.version,
      server: version,
      schema,
      store,
      ...(replica !== undefined && { reports: placeOfReports(replica) }),
      "partitions until": partitionsUntil,
      kept: keptFor,
    };
    context.print({ ...status, commandLine: manifest.version }, () => recordOf(shown));
  });
}
