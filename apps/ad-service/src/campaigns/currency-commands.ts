import { operatorRequest } from "@intermission/operator-api/operator-request";
import { withExamples } from "@intermission/server/command-line";
import { confirmable, confirmedQuery } from "@intermission/server/command-options";
import { recordOf } from "@intermission/server/command-tables";
import { type CommandContext, callForRow } from "@intermission/server/operator-client";
import type { Command } from "commander";

export function currencyCommands(program: Command, context: CommandContext): void {
  const currency = program.command("currency").description("the currency of all prices, budgets and charges");

  withExamples(currency.command("show").description("show the currency of the amounts in the store"), [
    "currency show",
  ]).action(async () => {
    const shown = await callForRow(context, operatorRequest("showCurrency"));
    context.print(shown, () => recordOf(shown));
  });

  withExamples(
    confirmable(
      currency
        .command("set")
        .description("name the currency of all amounts in the store, if it was set wrong; no amount is converted"),
    ).argument("<currency>", "ISO 4217 code, such as EUR"),
    ["currency set EUR", "currency set EUR --yes"],
  ).action(async (code: string, { yes }: { yes?: boolean }) => {
    const input = { query: confirmedQuery({ yes }), body: { currency: code } };
    const set = await callForRow(context, operatorRequest("setCurrency", input));
    const next = `\n\nStart every node again, with CURRENCY=${code}.`;
    context.print(set, () => `${recordOf(set)}${set.running === code ? "" : next}`);
  });
}
