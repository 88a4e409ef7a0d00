import { fieldFault } from "@intermission/operator-api/field-forms";
import {
  type NamedDimension,
  namedDimensions,
  type ReportReader,
  seenBy,
} from "@intermission/operator-api/report-figures";
import { type ReportQuery, type StatsQuery, statisticsRoutes } from "@intermission/operator-api/statistics";
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
import { audienceKeys } from "../viewers/audience.ts";
import { readDeliverySuccess } from "./delivery-success.ts";
import type { Figures } from "./figures-of.ts";
import { isNamed, namesOfKeys } from "./names-of-keys.ts";
import { type ReportQuestion, type ReportRow, readReport, readTotal } from "./read-report.ts";
import { MAX_GROUPS } from "./read-sums.ts";
import { readUsers } from "./read-users.ts";
import { figuresInJson, rowInJson, shownRow, usersInJson, visibleFigures } from "./report-in-json.ts";
import { pageOf } from "./report-page.ts";
import type { ReportSource } from "./report-source.ts";
import { csvNameOf, statsCsv } from "./stats-csv.ts";
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
      const { report, page, names, beside, of } = await reports.read(async (store) => {
        const report = await requireReport(store, question);
        const page = pageOf(report.rows, question, { cursor, limit });
        if (page.outcome === "bad-cursor")
          throw invalidField("cursor", "is not the next of a page of this report", fieldFault("CURSOR"));
        const names = await namesIn(store, page.rows, { question, reader });
        const beside = await besideRows(store, question, { reader, total: report.total });
        return { report, page, names, beside, of: await namesOfFilters(store, query, reader) };
      });
      const { comparison, countedUntil, total } = report;
      const { from, to, by, timeZone = "UTC" } = question;
      return {
        currency,
        by: by.join(","),
        timeZone,
        from,
        to,
        of,
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
      const { by, from, to, timeZone = "UTC" } = question;
      const { comparison, countedUntil } = report;
      answer.header("content-disposition", `attachment; filename="${csvNameOf({ from, to, timeZone })}"`);
      return statsCsv({
        by,
        currency,
        rows: report.rows.map((row) => shownRow(row, { by, names, reader })),
        total: visibleFigures(report.total, reader),
        period: query.heading ? { from, to, timeZone, comparison, countedUntil } : undefined,
      });
    },

    async sumUsers({ query, http }) {
      const reader = reportReaderOf(http);
      const { timeZone, from, to, botId, ...of } = await periodOf(deps, query, { by: [], reader });
      requireVisible({ ...query, by: [] }, reader);
      const botIds = botId === undefined ? undefined : [botId];
      const report = await reports.read((store) => readUsers(store, { of: { ...of, botIds }, from, to, timeZone }));
      return { currency, timeZone, from, to, ...usersInJson(report, reader) };
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
  requireSummed(query);
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

/** Names of the objects that a report is limited to: the guard has refused those of others. */
async function namesOfFilters(
  store: Runner,
  { botId, campaignId, creativeId, advertiser }: StatsQuery,
  reader: ReportReader,
): Promise<Partial<Record<NamedDimension, string>>> {
  const ids = { bot: botId, campaign: campaignId, creative: creativeId, advertiser };
  const named = namedDimensions.map(async (dimension) => {
    const id = ids[dimension];
    if (id === undefined || !seenBy[reader].names.includes(dimension)) return [];
    const name = (await namesOfKeys(store, dimension, [id])).get(id);
    return name === undefined ? [] : [[dimension, name] as const];
  });
  return Object.fromEntries((await Promise.all(named)).flat());
}

/** Refuses one creative by audience: only campaigns have sums of both. The schema refuses rows of both. */
function requireSummed({ by, creativeId, ...query }: StatsQuery): void {
  const ofAudience = audienceKeys.filter((key) => by.includes(key) || query[key] !== undefined);
  const ofCreative = creativeId === undefined && !by.includes("creative") ? undefined : "creative";
  if (ofCreative === undefined || ofAudience.length === 0) return;
  const message = `has no figures of a creative by ${ofAudience.join(" and ")}: name its campaign instead`;
  throw invalidField(creativeId === undefined ? "by" : "creativeId", message, fieldFault("DIMENSIONS"));
}

/** Refuses what a reader may not see, wherever a request names it. */
function requireVisible(
  { by, orderBy, advertiser }: Pick<StatsQuery, "by" | "advertiser"> & Partial<Pick<StatsQuery, "orderBy">>,
  reader: ReportReader,
): void {
  const { hidden, dimensions } = seenBy[reader];
  const isHidden = hidden.some((field) => field === orderBy) || !by.every((one) => dimensions.includes(one));
  if (isHidden || (reader === "publisher" && advertiser !== undefined))
    throw refusal(403, "FORBIDDEN", `reports of the role ${reader} have no such figures`);
}
