import { fieldFault } from "@intermission/operator-api/field-forms";
import { type SourceOrder, sourceOrderRoutes } from "@intermission/operator-api/source-orders";
import { audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { type Bots, findBot, unknownBot } from "../bots/bots.ts";
import { EXPLORED_SHARE, estimate, planSources, type SourceRecord } from "./order-sources.ts";
import { readOrders, recordsOf } from "./source-records.ts";

interface SourceOrderDeps {
  database: Database;
  bots: Bots;
  campaigns: CampaignSnapshot;
  now: () => Date;
}

const set = statement<never>(
  "sources.set-order",
  `insert into source_orders (bot_id, mode, campaign_ids) values ($1, $2, $3)
   on conflict (bot_id) do update set mode = excluded.mode, campaign_ids = excluded.campaign_ids`,
);
const unset = statement<never>("sources.unset-order", "delete from source_orders where bot_id = $1");

/** How many tags a viewer waits for. */
const AT_MOST = 3;

/** In which order the VAST tags of a bot are requested, and why. */
export function sourceOrderOperatorRoutes(scope: CheckedScope, deps: SourceOrderDeps): void {
  const { database, bots } = deps;
  serveOperatorRoutes(scope, sourceOrderRoutes, {
    async explainOrder({ params: { botId }, query: { country } }) {
      if (!(await findBot(bots, botId))) throw unknownBot(botId);
      return explainOrder(deps, { botId, country });
    },

    async setOrder({ params: { botId }, body: { mode, campaignIds = [] }, http }) {
      if (!(await findBot(bots, botId))) throw unknownBot(botId);
      if (mode === "fixed" && campaignIds.length === 0)
        throw invalidField(
          "campaignIds",
          "must name campaigns, the first one first, where the order is fixed",
          fieldFault("EMPTY"),
        );
      await database.transaction(async (tx) => {
        const change = await openChange(tx, authorOf(http), botId);
        if (mode === "weights") await tx.run(unset, [botId]);
        else await tx.run(set, [botId, mode, mode === "fixed" ? campaignIds : []]);
        await audit(tx, change);
      });
      return explainOrder(deps, { botId, country: undefined });
    },
  });
}

async function explainOrder(
  { database, campaigns, now }: SourceOrderDeps,
  { botId, country }: { botId: string; country: string | undefined },
): Promise<SourceOrder> {
  const { tags, orders } = await readOrders(database);
  await campaigns.refresh();
  const stored = orders.get(botId);
  const records = await recordsOf(database, { botId, country, now: now() });
  const sources = [...tags].flatMap((campaignId) => {
    const { campaign } = campaigns.byId.get(campaignId) ?? {};
    if (campaign === undefined || campaign.priority === "sponsorship") return [];
    const { name, viewPriceMicros: priceMicros } = campaign;
    const record: SourceRecord = records.get(campaignId) ?? { tries: 0, fills: 0, completed: 0, earnedMicros: 0 };
    return [{ name, priceMicros, ...record, ...estimate({ campaignId, priceMicros, record }) }];
  });
  const priced = sources.filter(({ priceMicros }) => priceMicros > 0);
  const planned = planSources(priced, { certainMicros: 0, atMost: AT_MOST }).order.map(({ campaignId }) => campaignId);
  const order = stored === undefined ? [] : stored.mode === "fixed" ? stored.campaignIds : planned;
  const placeOf = (campaignId: string) => (order.indexOf(campaignId) < 0 ? order.length : order.indexOf(campaignId));
  return {
    botId,
    mode: stored?.mode ?? "weights",
    campaignIds: stored?.mode === "fixed" ? [...stored.campaignIds] : [],
    exploredShare: stored?.mode === "earned" ? EXPLORED_SHARE : 0,
    sources: sources
      .toSorted((a, b) => placeOf(a.campaignId) - placeOf(b.campaignId))
      .map((source) => ({
        ...source,
        fillMicros: Math.round(source.fillMicros),
        place: order.includes(source.campaignId) ? placeOf(source.campaignId) + 1 : null,
      })),
  };
}
