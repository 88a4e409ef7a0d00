import type { ReferenceKey } from "@intermission/ad-core/client-api";
import {
  anyStatsResponse,
  type ReferenceStatsResponse,
  type StatsResponse,
  statsQuery,
} from "@intermission/ad-core/client-api";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { jsonInteger } from "@intermission/server/exact-json";
import { HttpError } from "@intermission/server/http-server";
import { callerOf } from "../bots/authenticate-client.ts";
import { readDeliverySuccess } from "./delivery-success.ts";
import type { Figures } from "./figures-of.ts";
import { readReport, readTotal } from "./read-report.ts";
import { MAX_GROUPS } from "./read-sums.ts";
import { MAX_EVENTS_READ, readReferenceStatistics } from "./reference-statistics.ts";
import type { ReportSource } from "./report-source.ts";
import { timeRange } from "./time-range.ts";

const readStats = {
  operationId: "readStats",
  description:
    "The bot's statistics by hour, day, campaign or creative: what was requested, shown, earned and refused. With `reference_prefix` or by `reference`: what codes of these references earned.",
  querystring: statsQuery,
  response: { 200: anyStatsResponse },
};

/**
 * The statistics of the caller's bot. Publishers see their share; only the operator sees what advertisers pay in total.
 */
export function statsClientRoutes(
  scope: CheckedScope,
  { reports, currency, now = () => new Date() }: { reports: ReportSource; currency: string; now?: () => Date },
): void {
  scope.get("/stats", { schema: readStats }, async (request): Promise<StatsResponse | ReferenceStatsResponse> => {
    const { by, reference_prefix: prefix, time_zone: timeZone, ...bounds } = request.query;
    const range = timeRange(bounds, by, now(), timeZone);
    if (range.outcome === "bad-range") throw new HttpError(400, "BAD_REQUEST", `${range.field} ${range.message}`);
    const { from, to } = range;
    const { botId } = callerOf(request).bot;
    if (by === "reference" || prefix !== undefined) {
      const question = { botId, prefix: prefix ?? "", from, to, timeZone, by: referenceKeyOf(by) };
      const read = await reports.read((store) => readReferenceStatistics(store, question));
      if (read.outcome === "too-many") throw tooManyEvents(question);
      const { rows, leftOut, total } = read;
      return {
        currency,
        from: from.toISOString(),
        to: to.toISOString(),
        by: question.by,
        reference_prefix: question.prefix,
        rows,
        ...(leftOut > 0 && { rows_left_out: leftOut }),
        total,
      };
    }
    const { report, deliveries } = await reports.read(async (store) => {
      const report = await readReport(store, { of: { botIds: [botId] }, from, to, timeZone, by: [by] });
      if (report.outcome === "too-many") return { report };
      const of = { of: { botIds: [botId] }, to };
      const totalSince = (since: Date) => readTotal(store, { ...of, from: since });
      return {
        report,
        deliveries: await readDeliverySuccess(store, { botId, from, to, total: report.total, totalSince }),
      };
    });
    if (deliveries === undefined)
      throw new HttpError(
        400,
        "BAD_REQUEST",
        `by ${by} there are more than ${MAX_GROUPS} rows: choose a shorter period`,
      );
    const { rows, total, countedUntil } = report;
    return {
      currency,
      from: from.toISOString(),
      to: to.toISOString(),
      by,
      ...(countedUntil && { counted_until: countedUntil.toISOString() }),
      rows: rows.map(({ keys: [key = ""], figures }) => ({ key, ...figuresForPublisher(figures) })),
      total: figuresForPublisher(total),
      deliveries: {
        delivered: deliveries.delivered,
        under_way: deliveries.underWay,
        failed: deliveries.failed,
        success_rate: deliveries.successRate,
        ...(deliveries.since && { since: deliveries.since.toISOString() }),
      },
    };
  });
}

function referenceKeyOf(by: string): ReferenceKey {
  if (by === "hour" || by === "day" || by === "reference") return by;
  throw new HttpError(400, "BAD_REQUEST", `by must be hour, day or reference with reference_prefix, not ${by}`);
}

function tooManyEvents({ prefix, from, to }: { prefix: string; from: Date; to: Date }): HttpError {
  const what = prefix === "" ? "references" : `references that begin with ${JSON.stringify(prefix)}`;
  return new HttpError(
    400,
    "BAD_REQUEST",
    `from ${from.toISOString()} to ${to.toISOString()} there are more than ${MAX_EVENTS_READ} events of ${what}: choose a shorter period or a longer reference_prefix`,
  );
}

function figuresForPublisher(figures: Figures): StatsResponse["total"] {
  const { requests, fills, limited, starts, midpoints, completions, closes, rewards, clicks, conversions } = figures;
  return {
    requests,
    fills,
    limited,
    starts,
    midpoints,
    completions,
    closes,
    rewards,
    clicks,
    conversions,
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
