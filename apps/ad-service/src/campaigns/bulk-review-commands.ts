import { confirmable, confirmedQuery, pastMomentOption, telegramIdOption } from "@intermission/server/command-options";
import { recordOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import type { BulkDecision } from "./bulk-review.ts";

/** The filters of `reviewFilter` as options, and `--yes`. */
export function withReviewFilter(command: Command): Command {
  return confirmable(command)
    .option("--bot-id <id>", "without an id: all of this bot", telegramIdOption)
    .option("--user-id <id>", "all of this user", telegramIdOption)
    .option("--campaign-id <id>", "all of this campaign")
    .option("--suspicion <word>", "all that look suspicious for this reason, as the list shows it")
    .option("--from <moment>", "all since then, such as 2026-03-01 or 2h", pastMomentOption)
    .option("--to <moment>", "all before then", pastMomentOption);
}

interface FilterOptions {
  yes?: boolean;
  from?: Date;
  to?: Date;
}

/** Decides about one, by its id, or about all that the filter selects: first without `--yes`, which counts them. */
export async function decide(
  context: CommandContext,
  command: Command,
  {
    what,
    verb,
    id,
    options,
  }: { what: "views" | "clicks"; verb: BulkDecision; id: string | undefined; options: FilterOptions },
): Promise<void> {
  const { yes, ...filter } = options;
  const isFiltered = Object.keys(filter).length > 0;
  if (id === undefined && !isFiltered) command.error(`Give an id, or a filter such as --bot-id or --suspicion.`);
  if (id !== undefined && isFiltered) command.error("Give an id or a filter, not both.");
  if (id !== undefined) {
    const path = `/${what}/${encodeURIComponent(id)}/${verb}`;
    const decided = await callForRow(context, { method: "POST", path });
    context.print(decided, () => recordOf(decided));
    return;
  }
  const call = { method: "POST", path: `/${what}/${verb}`, query: confirmedQuery({ yes }), body: filter } as const;
  const sum = { decided: 0, skipped: 0 };
  for (;;) {
    const { decided, skipped, left } = await callForRow(context, call);
    sum.decided += Number(decided);
    sum.skipped += Number(skipped);
    if (Number(left) === 0 || Number(decided) === 0) break;
  }
  context.print(sum, () => recordOf(sum));
}
