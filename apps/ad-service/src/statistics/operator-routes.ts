import { fieldFault } from "@intermission/operator-api/field-forms";
import {
  type NamedDimension,
  namedDimensions,
  type ReportReader,
  seenBy,
} from "@intermission/operator-api/report-figures";
import { type StatsQuery, statisticsRoutes } from "@intermission/operator-api/statistics";
import type { Runner } from "@intermission/postgres/open-database";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { invalidField } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { sumConversionRefusals, sumConversions, sumInJson } from "../conversions/read-conversions.ts";
import { readDeliverySuccess } from "./delivery-success.ts";
import type { Figures } from "./figures-of.ts";
import { namesOfKeys } from "./names-of-keys.ts";
import { type ReportQuestion, readTotal } from "./read-report.ts";
import { readUsers } from "./read-users.ts";
import { figuresInJson, rowInJson, shownRow, usersInJson, visibleFigures } from "./report-in-json.ts";
import { pageOf } from "./report-page.ts";
import {
  exportReport,
  namesIn,
  periodOf,
  questionOf,
  type ReportDeps,
  requireReport,
  requireVisible,
} from "./report-question.ts";

export interface StatsOperatorDeps extends ReportDeps {
  reportReaderOf: (request: FastifyRequest) => ReportReader;
}

/** The statistics of all bots, or of one bot, campaign or creative; what their clicks led to. */
export function statsOperatorRoutes(scope: CheckedScope, deps: StatsOperatorDeps): void {
  const { reports, currency, reportReaderOf } = deps;
  serveOperatorRoutes(scope, statisticsRoutes, {
    async readStats({ query, http }) {
      const reader = reportReaderOf(http);
      const question = await questionOf(deps, query, reader);
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
      const { name, csv } = await exportReport(deps, query, reportReaderOf(http));
      answer.header("content-disposition", `attachment; filename="${name}"`);
      return csv;
    },

    async sumUsers({ query, http }) {
      const reader = reportReaderOf(http);
      const { timeZone, from, to, botId, ...of } = await periodOf(deps, query, { by: [], reader });
      requireVisible({ ...query, by: [] }, reader);
      const botIds = botId === undefined ? undefined : [botId];
      const question = { of: { ...of, botIds }, from, to, now: deps.now(), timeZone };
      const report = await reports.read((store) => readUsers(store, question));
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
