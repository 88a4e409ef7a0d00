import type { OperatorRouteName } from "@intermission/operator-api/operator-routes";
import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { BulkDecision } from "@intermission/operator-api/reviews";
import { recordOf } from "@intermission/server/command-tables";
import { addInput, callRoute, recordText, type Verb } from "@intermission/server/route-commands";

/** The words of `reviewFilter`. */
export const filterWords = {
  botId: "of one bot only",
  userId: "of one user only",
  campaignId: "of one campaign only",
  suspicion: { text: "suspicious for this reason, as the list shows it", value: "word" },
  from: "since then, such as 2026-03-01 or 2h",
  to: "before then",
} as const;

/** The words of the filter of clicks. */
export const clickFilterWords = {
  ...filterWords,
  address: { text: "from this address of a day, as the list shows it", value: "hash" },
  network: { text: "from this network of a day, as the list shows it", value: "hash" },
} as const;

type OneRoute = Extract<OperatorRouteName, `${BulkDecision}${"View" | "Click"}`>;

/** A verb that decides about one, by its id, or about all that a filter selects: without `--yes` these are only counted. */
export function decisionVerb(
  one: OneRoute,
  id: "sessionId" | "clickId",
  { what, description, examples }: { what: "view" | "click"; description: string; examples: readonly string[] },
): Verb {
  const many = `${one}s` as const;
  return (command, context) => {
    const readInput = addInput<"releaseClicks">(command, operatorRoutes[many], {
      description: `${description}; or all that a filter selects`,
      examples,
      options: what === "click" ? clickFilterWords : filterWords,
    });
    command.argument(`[${what}-id]`, `as shown by ${what}s list`).action(async (named: string | undefined) => {
      const input = await readInput(context);
      const isFiltered = Object.keys(input.body).length > 0;
      if (named === undefined && !isFiltered) command.error("Give an id, or a filter such as --bot-id or --suspicion.");
      if (named !== undefined && isFiltered) command.error("Give an id or a filter, not both.");
      if (named !== undefined) {
        const decided = await callRoute(context, one, { params: { [id]: named } });
        return context.print(decided, () => recordText(decided));
      }
      const sum = { decided: 0, skipped: 0 };
      for (;;) {
        const { decided, skipped, left } = await callRoute(context, many, input);
        sum.decided += decided;
        sum.skipped += skipped;
        if (left === 0 || decided === 0) break;
      }
      context.print(sum, () => recordOf(sum));
    });
  };
}
