import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { pastMomentOption, wholeNumber } from "@intermission/server/command-options";
import { type Row, rowsOf, tableOf, textOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function auditCommands(program: Command, context: CommandContext): void {
  const audit = program.command("audit").description("who changed what, when and from where");

  withExamples(audit.command("list").description("changes, newest first"), [
    "audit list",
    "audit list --object-id cmp_8fJ2kLm4Qr9T",
    "audit list --actor ann@example.com --from 7d --json",
  ])
    .option("--actor <who>", "the id or the e-mail address of a person, or command-line")
    .option("--operation <name>", "such as updateCampaign")
    .option("--object-kind <kind>", "such as campaign or bot")
    .option("--object-id <id>", "of one object only")
    .option("--text <text>", "anywhere in the object before or after the change")
    .option("--from <moment>", "such as 2026-03-01 or 2h", pastMomentOption)
    .option("--to <moment>", "the end, exclusive", pastMomentOption)
    .option("--before <entry-id>", "continue where an earlier list ended")
    .option("--limit <number>", "at most this many, up to 1000", wholeNumber, 50)
    .action(async ({ from, to, limit, ...of }: ListOptions) => {
      const query = { ...of, from: from?.toISOString(), to: to?.toISOString(), limit: String(limit) };
      const answer = await callForRow(context, operatorRequest("listAuditEntries", { query }));
      const rows = rowsOf(answer, "entries");
      const more = answer.next === null ? "" : `\n\nThere are more: --before ${answer.next}`;
      context.print(rows, () => `${tableOf(rows, columns)}${more}`);
    });
}

interface ListOptions {
  actor?: string;
  operation?: string;
  objectKind?: string;
  objectId?: string;
  text?: string;
  from?: Date;
  to?: Date;
  before?: string;
  limit: number;
}

const columns = {
  ENTRY: (entry: Row) => entry.entryId,
  AT: (entry: Row) => entry.at,
  WHO: (entry: Row) => entry.actorName ?? entry.actor,
  FROM: (entry: Row) => entry.address,
  OPERATION: (entry: Row) => entry.operation,
  OBJECT: (entry: Row) => `${entry.objectKind} ${entry.objectId}`,
  CHANGES: ({ before, after }: Row) => changes(before, after),
};

/** The fields that differ: `dailyCap: 20 → 30`. Of a new object nothing, since all of them are new. */
function changes(before: unknown, after: unknown): string {
  if (!isRow(before) || !isRow(after)) return isRow(after) ? "added" : "";
  const differing = Object.keys({ ...before, ...after }).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
  return differing.map((field) => `${field}: ${textOf(before[field])} → ${textOf(after[field])}`).join("; ");
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null;
}
