import { amountOf } from "@intermission/operator-api/amounts";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import { confirmedQuery, pastMomentOption, telegramIdOption } from "@intermission/server/command-options";
import { type Row, recordOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";
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

const ofView = (name: "releaseView" | "refuseView" | "refundView") => (sessionId: string) =>
  operatorRequest(name, { params: { sessionId } });
const ofClick = (name: "releaseClick" | "refuseClick" | "refundClick") => (clickId: string) =>
  operatorRequest(name, { params: { clickId } });

/** The request about one, and the route for all that a filter selects. */
const decisions = {
  views: {
    release: { one: ofView("releaseView"), many: "releaseViews" },
    refuse: { one: ofView("refuseView"), many: "refuseViews" },
    refund: { one: ofView("refundView"), many: "refundViews" },
  },
  clicks: {
    release: { one: ofClick("releaseClick"), many: "releaseClicks" },
    refuse: { one: ofClick("refuseClick"), many: "refuseClicks" },
    refund: { one: ofClick("refundClick"), many: "refundClicks" },
  },
} as const satisfies Record<"views" | "clicks", Record<BulkDecision, object>>;

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
    const decided = await callForRow(context, decisions[what][verb].one(id));
    context.print(decided, () => recordOf(withAmount(decided)));
    return;
  }
  const call = operatorRequest(decisions[what][verb].many, { query: confirmedQuery({ yes }), body: filter });
  const sum = { decided: 0, skipped: 0 };
  for (;;) {
    const { decided, skipped, left } = await callForRow(context, call);
    sum.decided += Number(decided);
    sum.skipped += Number(skipped);
    if (Number(left) === 0 || Number(decided) === 0) break;
  }
  context.print(sum, () => recordOf(sum));
}
