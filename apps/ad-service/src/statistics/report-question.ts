import { fieldFault } from "@intermission/operator-api/field-forms";
import { type ReportReader, seenBy } from "@intermission/operator-api/report-figures";
import type { ReportQuery, StatsQuery } from "@intermission/operator-api/statistics";
import type { Database, Runner } from "@intermission/postgres/open-database";
import { invalidField, refusal } from "@intermission/server/refuse";
import { campaignsOf } from "../advertisers/advertisers.ts";
import { requireBots } from "../bots/bots.ts";
import { requireCampaign } from "../campaigns/campaigns.ts";
import { requireCreative } from "../creatives/creatives.ts";
import { audienceKeys } from "../viewers/audience.ts";
import { isNamed, namesOfKeys } from "./names-of-keys.ts";
import { type ReportQuestion, type ReportRow, readReport } from "./read-report.ts";
import { MAX_GROUPS } from "./read-sums.ts";
import { shownRow, visibleFigures } from "./report-in-json.ts";
import type { ReportSource } from "./report-source.ts";
import { csvNameOf, statsCsv } from "./stats-csv.ts";
import { timeRange } from "./time-range.ts";

export interface ReportDeps {
  database: Database;
  reports: ReportSource;
  /** ISO 4217 code of all prices. */
  currency: string;
  now: () => Date;
}

/** The file of a report, with its name. */
export async function exportReport(
  deps: ReportDeps,
  query: StatsQuery & { heading: boolean },
  reader: ReportReader,
): Promise<{ name: string; csv: string }> {
  const question = await questionOf(deps, query, reader);
  const { report, names } = await deps.reports.read(async (store) => {
    const report = await requireReport(store, question);
    return { report, names: await namesIn(store, report.rows, { question, reader }) };
  });
  const { by, from, to, timeZone = "UTC" } = question;
  const { comparison, countedUntil } = report;
  const csv = statsCsv({
    by,
    currency: deps.currency,
    rows: report.rows.map((row) => shownRow(row, { by, names, reader })),
    total: visibleFigures(report.total, reader),
    period: query.heading ? { from, to, timeZone, comparison, countedUntil } : undefined,
  });
  return { name: csvNameOf({ from, to, timeZone }), csv };
}

/** Checks that the objects of a request exist, and returns its period. */
export async function periodOf(
  { database, now }: ReportDeps,
  { from, to, timeZone, botId, campaignId, creativeId, advertiser }: ReportQuery,
  { by, reader }: { by: readonly string[]; reader: ReportReader },
) {
  const range = timeRange({ from, to }, by.includes("hour") ? "hour" : "day", now(), timeZone);
  if (range.outcome === "bad-range") throw invalidField(range.field, range.message, range.fault);
  // Other readers get no figures of a foreign object, so they cannot learn whether it exists.
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

/** The request's query, limited to the objects that its reader may see. */
export async function questionOf(deps: ReportDeps, query: StatsQuery, reader: ReportReader): Promise<ReportQuestion> {
  const { by, compare, orderBy, order, country, platform, language, premium } = query;
  const { botId, campaignIds, creativeId, ...period } = await periodOf(deps, query, { by, reader });
  requireVisible(query, reader);
  requireSummed(query);
  const objects = { botIds: botId === undefined ? undefined : [botId], campaignIds, creativeId };
  const of = { ...objects, country, platform, language, premium };
  return { ...period, of, by, compare, orderBy, order };
}

export async function requireReport(store: Runner, question: ReportQuestion) {
  const report = await readReport(store, question);
  if (report.outcome === "too-many") {
    const message = `makes more than ${MAX_GROUPS} rows: name fewer dimensions, or a shorter period`;
    throw invalidField("by", message, fieldFault("ROWS_AT_MOST", { max: String(MAX_GROUPS) }));
  }
  return report;
}

/** Names of the objects in rows, by dimension. */
export async function namesIn(
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

/** Refuses one creative by audience, since sums by audience exist only for campaigns. The schema refuses rows of both. */
function requireSummed({ by, creativeId, ...query }: StatsQuery): void {
  const ofAudience = audienceKeys.filter((key) => by.includes(key) || query[key] !== undefined);
  const ofCreative = creativeId === undefined && !by.includes("creative") ? undefined : "creative";
  if (ofCreative === undefined || ofAudience.length === 0) return;
  const message = `has no figures of a creative by ${ofAudience.join(" and ")}: name its campaign instead`;
  throw invalidField(creativeId === undefined ? "by" : "creativeId", message, fieldFault("DIMENSIONS"));
}

/** Refuses dimensions, an order or an advertiser that the reader may not see. */
export function requireVisible(
  { by, orderBy, advertiser }: Pick<StatsQuery, "by" | "advertiser"> & Partial<Pick<StatsQuery, "orderBy">>,
  reader: ReportReader,
): void {
  const { hidden, dimensions } = seenBy[reader];
  const isHidden = hidden.some((field) => field === orderBy) || !by.every((one) => dimensions.includes(one));
  if (isHidden || (reader === "publisher" && advertiser !== undefined))
    throw refusal(403, "FORBIDDEN", `reports of the role ${reader} have no such figures`);
}
