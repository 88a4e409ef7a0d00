import { confirmedQuery, pastMomentOption, telegramIdOption } from "@intermission/server/command-options";
import { type Row, recordOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
import { amountOf } from "./amounts.ts";
import type { BulkDecision } from "./bulk-review.ts";

/** The filters of `reviewFilter` as options. */
export function withReviewFilter(command: Command): Command {
  return command
    .option("--bot-id <id>", "of one bot only", telegramIdOption)
    .option("--user-id <id>", "of one user only", telegramIdOption)
    .option("--campaign-id <id>", "of one campaign only")
    .option("--suspicion <word>", "suspicious for this reason, as the list shows it")
    .option("--from <moment>", "since then, such as 2026-03-01 or 2h", pastMomentOption)
    .option("--to <moment>", "before then", pastMomentOption);
}

/** The query of a list. */
export function filterQuery({ from, to, ...filter }: Row & FilterOptions): Record<string, string | undefined> {
  const time = { from: from?.toISOString(), to: to?.toISOString() };
  return { ...Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value)])), ...time };
}

interface FilterOptions {
  yes?: boolean;
  from?: Date;
  to?: Date;
}

/** A refund with its amount in the currency. */
function withAmount({ refundedMicros, currency, ...others }: Row): Row {
  if (typeof refundedMicros !== "number") return others;
  return { ...others, refunded: `${amountOf(refundedMicros)} ${currency}` };
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
  if (id === undefined && !isFiltered) command.error("Give an id, or a filter such as --bot-id or --suspicion.");
  if (id !== undefined && isFiltered) command.error("Give an id or a filter, not both.");
  if (id !== undefined) {
    const path = `/${what}/${encodeURIComponent(id)}/${verb}`;
    const decided = await callForRow(context, { method: "POST", path });
    context.print(decided, () => recordOf(withAmount(decided)));
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
