import { noAdvertiserParty, noOperatorParty, noPayee, partyRoutes } from "@intermission/operator-api/parties";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { MoneyOperatorDeps } from "./operator-routes.ts";
import { readAdvertiserParty, readOperatorParty, readPayee, setParty } from "./parties.ts";

/** Who the parties of statements and payouts are. */
export function partyOperatorRoutes(
  scope: CheckedScope,
  {
    database,
    requireBots,
    requireAdvertiser,
  }: Pick<MoneyOperatorDeps, "database" | "requireBots" | "requireAdvertiser">,
): void {
  serveOperatorRoutes(scope, partyRoutes, {
    showOperatorParty: () => readOperatorParty(database),

    async setOperatorParty({ body: { expected, ...changes }, http }) {
      const change = { account: "operator", none: noOperatorParty, changes, expected, author: authorOf(http) } as const;
      refuseChanged(await setParty(database, change));
      return readOperatorParty(database);
    },

    async showTopUpWays({ params }) {
      await requireAdvertiser(params.advertiser);
      const { topUpText, topUpUrl, contactEmail } = await readOperatorParty(database);
      return { topUpText, topUpUrl, contactEmail };
    },

    async showAdvertiserParty({ params }) {
      const { advertiserId } = await requireAdvertiser(params.advertiser);
      return readAdvertiserParty(database, advertiserId);
    },

    async setAdvertiserParty({ params, body: { expected, ...changes }, http }) {
      const { advertiserId } = await requireAdvertiser(params.advertiser);
      const change = { none: noAdvertiserParty, changes, expected, author: authorOf(http) };
      refuseChanged(await setParty(database, { account: `advertiser:${advertiserId}`, ...change }));
      return readAdvertiserParty(database, advertiserId);
    },

    async showPayee({ params: { botId } }) {
      await requireBots([botId]);
      return readPayee(database, botId);
    },

    async setPayee({ params: { botId }, body: { expected, ...changes }, http }) {
      await requireBots([botId]);
      const change = { none: noPayee, changes, expected, author: authorOf(http) };
      refuseChanged(await setParty(database, { account: `publisher:${botId}`, ...change }));
      return readPayee(database, botId);
    },
  });
}

function refuseChanged(outcome: "set" | "changed-since"): void {
  if (outcome === "changed-since")
    throw conflict("DETAILS_CHANGED", "these details were changed since they were read: read them again");
}
