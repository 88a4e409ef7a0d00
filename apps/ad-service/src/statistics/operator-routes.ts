import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { invalidField } from "@intermission/server/refuse";
import { z } from "zod";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { requireCreative } from "../creatives/creatives.ts";
import type { Figures } from "./figures-of.ts";
import { dimensions, namesOfKeys, readStatistics, timeRange } from "./read-statistics.ts";
import { rollUpStatistics } from "./roll-up-statistics.ts";

export interface StatsOperatorDeps {
  database: Database;
  /** ISO 4217 code of all prices. */
  currency: string;
  now: () => Date;
}

const id = z.string().regex(/^[\w-]{1,64}$/, "must be an id as the lists show it");
const querystring = z.object({
  botId: telegramId.optional(),
  campaignId: id.optional(),
  creativeId: id.optional(),
  from: momentInput.optional(),
  to: momentInput.optional(),
  by: z.enum(dimensions).default("day"),
});

const readStats = {
  operationId: "readStats",
  description: "The statistics of all bots, or of one bot, campaign or creative.",
  querystring,
};

/** The statistics of all bots, or of one bot, campaign or creative. */
export function statsOperatorRoutes(scope: CheckedScope, { database, currency, now }: StatsOperatorDeps): void {
  scope.get("/stats", { schema: readStats }, async (request) => {
    const { by, from, to, ...of } = request.query;
    const range = timeRange({ from, to }, by, now());
    if (range.outcome === "bad-range") throw invalidField(range.field, range.message);
    await requireBots(database, [of.botId]);
    await requireCampaign(database, of.campaignId);
    await requireCreative(database, of.creativeId);
    // No other node may be running, and the operator expects to see the latest events.
    await rollUpStatistics(database);
    const time = { from: range.from, to: range.to };
    const { rows, total, ...statistics } = await readStatistics(database, { ...of, ...time, by });
    const names = await namesOfKeys(
      database,
      by,
      rows.map(({ key }) => key),
    );
    return {
      ...{ currency, by, ...time },
      ...statistics,
      rows: rows.map(({ key, figures }) => ({ key, name: names.get(key), ...figuresInJson(figures) })),
      total: figuresInJson(total),
    };
  });
}

function figuresInJson(figures: Figures) {
  return {
    ...figures,
    spendMicros: jsonInteger(figures.spendMicros),
    revenueMicros: jsonInteger(figures.revenueMicros),
    ecpmMicros: figures.ecpmMicros === null ? null : jsonInteger(figures.ecpmMicros),
  };
}
