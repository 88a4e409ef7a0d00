import { type StatsResponse, statsQuery, statsResponse } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { HttpError } from "@intermission/server/http-server";
import { callerOf } from "../bots/authenticate-client.ts";
import type { Figures } from "./figures-of.ts";
import { readStatistics, timeRange } from "./read-statistics.ts";

const readStats = {
  operationId: "readStats",
  description:
    "The bot's statistics by hour, day, campaign or creative: what was requested, shown, earned and refused.",
  querystring: statsQuery,
  response: { 200: statsResponse },
};

/**
 * The statistics of the caller's bot. Publishers see their share; only the operator sees what advertisers pay in total.
 */
export function statsClientRoutes(
  scope: CheckedScope,
  { database, currency, now = () => new Date() }: { database: Database; currency: string; now?: () => Date },
): void {
  scope.get("/stats", { schema: readStats }, async (request): Promise<StatsResponse> => {
    const { by, ...given } = request.query;
    const range = timeRange(given, by, now());
    if (range.outcome === "bad-range") throw new HttpError(400, "BAD_REQUEST", `${range.field} ${range.message}`);
    const { from, to } = range;
    const { botId } = callerOf(request).bot;
    const { rows, total, deliveries, countedUntil } = await readStatistics(database, { botId, from, to, by });
    return {
      currency,
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      ...(countedUntil && { counted_until: countedUntil.toISOString() }),
      rows: rows.map(({ key, figures }) => ({ key, ...figuresForPublisher(figures) })),
      total: figuresForPublisher(total),
      deliveries: {
        delivered: deliveries?.delivered ?? 0,
        under_way: deliveries?.underWay ?? 0,
        failed: deliveries?.failed ?? 0,
        success_rate: deliveries?.successRate ?? null,
      },
    };
  });
}

function figuresForPublisher(figures: Figures): StatsResponse["total"] {
  const { requests, fills, limited, starts, midpoints, completions, closes, rewards, clicks, conversions } = figures;
  return {
    ...{ requests, fills, limited, starts, midpoints, completions, closes, rewards, clicks, conversions },
    fill_rate: figures.fillRate,
    no_fills: figures.noFills,
    requests_refused: figures.requestsRefused,
    first_quartiles: figures.firstQuartiles,
    third_quartiles: figures.thirdQuartiles,
    completion_rate: figures.completionRate,
    views_held: figures.viewsHeld,
    views_refused: figures.viewsRefused,
    clicks_refused: figures.clicksRefused,
    refunds: figures.refunds,
    revenue_micros: jsonInteger(figures.revenueMicros),
    ecpm_micros: figures.ecpmMicros === null ? null : jsonInteger(figures.ecpmMicros),
  };
}
