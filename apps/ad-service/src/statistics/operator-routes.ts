import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { invalidField } from "@intermission/server/refuse";
import { z } from "zod";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { sumConversionRefusals, sumConversions, sumInJson } from "../conversions/read-conversions.ts";
import { requireCreative } from "../creatives/creatives.ts";
import type { Figures } from "./figures-of.ts";
import { type Dimension, dimensions, namesOfKeys, readStatistics, timeRange } from "./read-statistics.ts";
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

const readConversionSums = {
  operationId: "sumConversions",
  description: "The conversions of a period for each event and currency, and the refused postbacks by reason.",
  querystring: querystring.omit({ by: true }),
};

/** The statistics of all bots, or of one bot, campaign or creative; what their clicks led to. */
export function statsOperatorRoutes(scope: CheckedScope, { database, currency, now }: StatsOperatorDeps): void {
  /** The period of a request, once what it names exists and the latest events are summed. */
  async function periodOf(query: z.infer<typeof readConversionSums.querystring>, by: Dimension) {
    const { from, to, ...of } = query;
    const range = timeRange({ from, to }, by, now());
    if (range.outcome === "bad-range") throw invalidField(range.field, range.message);
    await requireBots(database, [of.botId]);
    await requireCampaign(database, of.campaignId);
    await requireCreative(database, of.creativeId);
    // No other node may be running, and the operator expects to see the latest events.
    await rollUpStatistics(database);
    return { ...of, from: range.from, to: range.to };
  }

  scope.get("/stats", { schema: readStats }, async (request) => {
    const { by, ...query } = request.query;
    const period = await periodOf(query, by);
    const { rows, total, ...statistics } = await readStatistics(database, { ...period, by });
    const names = await namesOfKeys(
      database,
      by,
      rows.map(({ key }) => key),
    );
    const conversionSums = await sumConversions(database, period);
    return {
      ...{ currency, by, from: period.from, to: period.to },
      ...statistics,
      conversionSums: conversionSums.map(sumInJson),
      rows: rows.map(({ key, figures }) => ({ key, name: names.get(key), ...figuresInJson(figures) })),
      total: figuresInJson(total),
    };
  });

  scope.get("/conversions/sums", { schema: readConversionSums }, async (request) => {
    const period = await periodOf(request.query, "day");
    const sums = await sumConversions(database, period);
    const refused = await sumConversionRefusals(database, period);
    return { from: period.from, to: period.to, sums: sums.map(sumInJson), refused };
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
