import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { boundedText } from "@intermission/server/parse-request";
import { invalidField } from "@intermission/server/refuse";
import { z } from "zod";
import { campaignsOf } from "../advertisers/advertisers.ts";
import { timeZone } from "../bots/bot-settings.ts";
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
  advertiser: boundedText(128).optional().describe("Of all campaigns of one advertiser; its name in any case."),
  timeZone: timeZone.default("UTC").describe("Of the days; an hour belongs to the day in which it begins."),
  from: momentInput.optional(),
  to: momentInput.optional(),
  by: z.enum(dimensions).default("day"),
});

const readStats = {
  operationId: "readStats",
  description: "The statistics of all bots, or of one bot, advertiser, campaign or creative.",
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
    const { from, to, advertiser, timeZone, ...of } = query;
    const range = timeRange({ from, to }, by, now(), timeZone);
    if (range.outcome === "bad-range") throw invalidField(range.field, range.message);
    await requireBots(database, [of.botId]);
    await requireCampaign(database, of.campaignId);
    await requireCreative(database, of.creativeId);
    const campaignIds = advertiser === undefined ? undefined : await campaignsOf(database, advertiser);
    // No other node may be running, and the operator expects to see the latest events.
    await rollUpStatistics(database);
    return { ...of, campaignIds, timeZone, from: range.from, to: range.to };
  }

  scope.get("/stats", { schema: readStats }, async (request) => {
    const { by, ...query } = request.query;
    const period = await periodOf(query, by);
    const { rows, total, ...statistics } = await readStatistics(database, { ...period, by }).catch((error: unknown) => {
      if (isUnknownZone(error))
        throw invalidField("timeZone", "is not known to the database: name another of the same zone");
      throw error;
    });
    const names = await namesOfKeys(
      database,
      by,
      rows.map(({ key }) => key),
    );
    const conversionSums = await sumConversions(database, period);
    return {
      ...{ currency, by, timeZone: period.timeZone, from: period.from, to: period.to },
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

/** The database has time zones of its own, which may be of another year. */
function isUnknownZone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "22023";
}

function figuresInJson(figures: Figures) {
  return {
    ...figures,
    spendMicros: jsonInteger(figures.spendMicros),
    revenueMicros: jsonInteger(figures.revenueMicros),
    ecpmMicros: figures.ecpmMicros === null ? null : jsonInteger(figures.ecpmMicros),
  };
}
