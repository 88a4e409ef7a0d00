import { type Dimension, type ReportQuery, statisticsRoutes } from "@intermission/operator-api/statistics";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import { campaignsOf } from "../advertisers/advertisers.ts";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { sumConversionRefusals, sumConversions, sumInJson } from "../conversions/read-conversions.ts";
import { requireCreative } from "../creatives/creatives.ts";
import type { Figures } from "./figures-of.ts";
import { namesOfKeys, readStatistics, timeRange } from "./read-statistics.ts";
import { rollUpStatistics } from "./roll-up-statistics.ts";

export interface StatsOperatorDeps {
  database: Database;
  /** ISO 4217 code of all prices. */
  currency: string;
  now: () => Date;
}

/** The statistics of all bots, or of one bot, campaign or creative; what their clicks led to. */
export function statsOperatorRoutes(scope: CheckedScope, { database, currency, now }: StatsOperatorDeps): void {
  /** The period of a request, once what it names exists and the latest events are summed. */
  async function periodOf(query: ReportQuery, by: Dimension) {
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

  serveOperatorRoutes(scope, statisticsRoutes, {
    async readStats(request) {
      const { by, ...query } = request.query;
      const period = await periodOf(query, by);
      const { rows, total, ...statistics } = await readStatistics(database, { ...period, by }).catch(
        (error: unknown) => {
          if (isUnknownZone(error))
            throw invalidField("timeZone", "is not known to the database: name another of the same zone");
          throw error;
        },
      );
      const names = await namesOfKeys(
        database,
        by,
        rows.map(({ key }) => key),
      );
      const conversionSums = await sumConversions(database, period);
      return {
        currency,
        by,
        timeZone: period.timeZone,
        from: period.from,
        to: period.to,
        ...statistics,
        conversionSums: conversionSums.map(sumInJson),
        rows: rows.map(({ key, figures }) => ({ key, name: names.get(key), ...figuresInJson(figures) })),
        total: figuresInJson(total),
      };
    },

    async sumConversions(request) {
      const period = await periodOf(request.query, "day");
      const sums = await sumConversions(database, period);
      const refused = await sumConversionRefusals(database, period);
      return { from: period.from, to: period.to, sums: sums.map(sumInJson), refused };
    },
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
