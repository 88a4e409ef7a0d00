import { fieldFault } from "@intermission/operator-api/field-forms";
import {
  type ReportQuery,
  type ReportReader,
  type StatsQuery,
  seenBy,
  statisticsRoutes,
} from "@intermission/operator-api/statistics";
import type { Database, Runner } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { invalidField, refusal } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { campaignsOf } from "../advertisers/advertisers.ts";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { sumConversionRefusals, sumConversions, sumInJson } from "../conversions/read-conversions.ts";
import { requireCreative } from "../creatives/creatives.ts";
import { readDeliverySuccess } from "./delivery-success.ts";
import type { Figures } from "./figures-of.ts";
import { isNamed, namesOfKeys } from "./names-of-keys.ts";
import { type ReportQuestion, type ReportRow, readReport, readTotal } from "./read-report.ts";
import { MAX_GROUPS } from "./read-sums.ts";
import { figuresInJson, rowInJson, shownRow, visibleFigures } from "./report-in-json.ts";
import { pageOf } from "./report-page.ts";
import type { ReportSource } from "./report-source.ts";
import { statsCsv } from "./stats-csv.ts";
import { timeRange } from "./time-range.ts";

export interface StatsOperatorDeps {
  database: Database;
  reports: ReportSource;
  /** ISO 4217 code of all prices. */
  currency: string;
  reportReaderOf: (request: FastifyRequest) => ReportReader;
  now: () => Date;
}

/** The statistics of all bots, or of one bot, campaign or creative; what their clicks led to. */
export function statsOperatorRoutes(scope: CheckedScope, deps: StatsOperatorDeps): void {
  const { reports, currency, reportReaderOf } = deps;
  serveOperatorRoutes(scope, statisticsRoutes, {
    async readStats({ query, http }) {
      const { reader, question } = await questionOf(deps, query, http);
      const { cursor, limit } = query;
      const { report, page, names, beside } = await reports.read(async (store) => {
        const report = await requireReport(store, question);
        const page = pageOf(report.rows, question, { cursor, limit });
        if (page.outcome === "bad-cursor")
          throw invalidField("cursor", "is not the next of a page of this report", fieldFault("CURSOR"));
        const names = await namesIn(store, page.rows, { question, reader });
        return { report, page, names, beside: await besideRows(store, question, { reader, total: report.total }) };
      });
      const { comparison, countedUntil, total } = report;
      const { from, to, by, timeZone = "UTC" } = question;
      return {
        currency,
        by: by.join(","),
        timeZone,
        from,
        to,
        ...(countedUntil && { countedUntil }),
        ...beside,
        rows: page.rows.map((row) => rowInJson(shownRow(row, { by, names, reader }), by)),
        next: page.next,
        total: figuresInJson(visibleFigures(total, reader)),
        ...(comparison && {
          comparison: { ...comparison, total: figuresInJson(visibleFigures(comparison.total, reader)) },
        }),
      };
    },

    async exportStats({ query, http }, answer) {
      const { reader, question } = await questionOf(deps, query, http);
      const { report, names } = await reports.read(async (store) => {
        const report = await requireReport(store, question);
        return { report, names: await namesIn(store, report.rows, { question, reader }) };
      });
      const rows = report.rows.map((row) => shownRow(row, { by: question.by, names, reader }));
      answer.header("content-disposition", 'attachment; filename="statistics.csv"');
      return statsCsv({ by: question.by, currency, rows, total: visibleFigures(report.total, reader) });
    },

    async sumConversions({ query, http }) {
      const period = await periodOf(deps, query, { by: [], reader: reportReaderOf(http) });
      const { sums, refused } = await reports.read(async (store) => ({
        sums: await sumConversions(store, period),
        refused: await sumConversionRefusals(store, period),
      }));
      return { from: period.from, to: period.to, sums: sums.map(sumInJson), refused };
    },
  });
}

/** The period of a request, once what it names exists. */
async function periodOf(
  { database, now }: StatsOperatorDeps,
  { from, to, timeZone, botId, campaignId, creativeId, advertiser }: ReportQuery,
  { by, reader }: { by: readonly string[]; reader: ReportReader },
) {
  const range = timeRange({ from, to }, by.includes("hour") ? "hour" : "day", now(), timeZone);
  if (range.outcome === "bad-range") throw invalidField(range.field, range.message, range.fault);
  // Others do not learn whether a foreign object exists: it has no figures.
  if (reader === "staff") {
    await requireBots(database, [botId]);
    await requireCampaign(database, campaignId);
    await requireCreative(database, creativeId);
  }
  const ofAdvertiser = advertiser === undefined ? undefined : await campaignsOf(database, advertiser);
  const ofCampaign = campaignId === undefined ? undefined : [campaignId];
  const campaignIds = ofCampaign?.filter((id) => ofAdvertiser?.includes(id) ?? true) ?? ofAdvertiser;
  return { timeZone, from: range.from, to: range.to, botId, campaignIds, creativeId };
}

async function questionOf(deps: StatsOperatorDeps, query: StatsQuery, request: FastifyRequest) {
  const { by, compare, orderBy, order, country, platform, language, premium } = query;
  const reader = deps.reportReaderOf(request);
  const { botId, campaignIds, creativeId, ...period } = await periodOf(deps, query, { by, reader });
  requireVisible(query, reader);
  const objects = { botIds: botId === undefined ? undefined : [botId], campaignIds, creativeId };
  const of = { ...objects, country, platform, language, premium };
  const question: ReportQuestion = { ...period, of, by, compare, orderBy, order };
  return { reader, question };
}

async function requireReport(store: Runner, question: ReportQuestion) {
  const report = await readReport(store, question);
  if (report.outcome === "too-many") {
    const message = `makes more than ${MAX_GROUPS} rows: name fewer dimensions, or a shorter period`;
    throw invalidField("by", message, fieldFault("ROWS_AT_MOST", { max: String(MAX_GROUPS) }));
  }
  return report;
}

/** Webhooks belong to whole bots, and the value of conversions is the advertiser's; neither is known by audience. */
async function besideRows(
  store: Runner,
  { of, from, to }: ReportQuestion,
  { reader, total }: { reader: ReportReader; total: Figures },
) {
  const { botIds, campaignIds, creativeId, ...audience } = of;
  const [botId] = botIds ?? [];
  const isOfAudience = Object.values(audience).some((value) => value !== undefined);
  const isOfWholeBots = campaignIds === undefined && creativeId === undefined && !isOfAudience;
  const conversionSums =
    reader === "publisher" || isOfAudience
      ? []
      : await sumConversions(store, { botId, campaignIds, creativeId, from, to });
  const deliveries =
    isOfWholeBots && reader !== "advertiser"
      ? await readDeliverySuccess(store, {
          botId,
          from,
          to,
          total,
          totalSince: (since) => readTotal(store, { of, from: since, to }),
        })
      : undefined;
  return { ...(deliveries && { deliveries }), conversionSums: conversionSums.map(sumInJson) };
}

/** Names of the objects in rows, by dimension. */
async function namesIn(
  store: Runner,
  rows: readonly ReportRow[],
  { question, reader }: { question: ReportQuestion; reader: ReportReader },
) {
  const names = question.by.map(async (dimension, index) =>
    isNamed(dimension) && seenBy[reader].names.includes(dimension)
      ? await namesOfKeys(store, dimension, [...new Set(rows.map(({ keys }) => keys[index] ?? ""))])
      : new Map<string, string>(),
  );
  return Promise.all(names);
}

/** Refuses what a reader may not see, wherever a request names it. */
function requireVisible({ by, orderBy, advertiser }: StatsQuery, reader: ReportReader): void {
  const { hidden, dimensions } = seenBy[reader];
  const isHidden = hidden.some((field) => field === orderBy) || !by.every((one) => dimensions.includes(one));
  if (isHidden || (reader === "publisher" && advertiser !== undefined))
    throw refusal(403, "FORBIDDEN", `reports of the role ${reader} have no such figures`);
}
