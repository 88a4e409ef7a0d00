import { momentInput, telegramId } from "@intermission/ad-core/wire-fields";
import { z } from "zod";
import { grants } from "./access.ts";
import { platforms } from "./campaign-words.ts";
import { conversionRefusal } from "./conversions.ts";
import { fieldFault } from "./field-forms.ts";
import { boundedText, listedId, listLimitFrom, micros, moment, timeZone } from "./fields.ts";
import {
  audienceDimensions,
  comparisons,
  type Dimension,
  dimensions,
  namedDimensions,
  reportFigures,
  reportOrders,
  share,
  sortDirections,
} from "./report-figures.ts";
import type { OperatorRoutes } from "./route.ts";

const MAX_DIMENSIONS = 4;

/** Names of dimensions, as `day,campaign`. */
const by = z.string().transform((text, context): Dimension[] => {
  const names = text.split(",").map((name) => name.trim());
  const known = names.filter((name) => dimensions.some((one) => one === name)) as Dimension[];
  const fault = faultOfDimensions(names, known);
  if (fault === undefined) return known;
  context.addIssue({ code: "custom", message: fault, params: fieldFault("DIMENSIONS") });
  return z.NEVER;
});

function faultOfDimensions(names: readonly string[], known: readonly Dimension[]): string | undefined {
  if (known.length < names.length || new Set(known).size < known.length || known.length > MAX_DIMENSIONS)
    return `must be 1 to ${MAX_DIMENSIONS} of ${dimensions.join(", ")}, each once, separated by commas`;
  if (known.includes("hour") && known.includes("day")) return "must not have both hour and day: an hour names its day";
  if (known.includes("creative") && audienceDimensions.some((name) => known.includes(name)))
    return `must not combine creative with ${audienceDimensions.join(", ")}: name campaign instead of creative`;
  return undefined;
}

/** What a report is about, and its period. */
const reportQuery = z.object({
  botId: telegramId.optional(),
  campaignId: listedId.optional(),
  creativeId: listedId.optional(),
  advertiser: boundedText(128)
    .optional()
    .describe("Of all campaigns of one advertiser: its id, or its name in any case."),
  timeZone: timeZone.default("UTC").describe("Of days and hours, as Asia/Kathmandu."),
  from: momentInput.optional(),
  to: momentInput.optional(),
});

/** What a period brought for one event, in one currency. */
const conversionSum = z.object({
  event: z.string(),
  currency: z.string(),
  conversions: z.int().describe("Less those that were reversed."),
  valueMicros: micros,
  reversed: z.int(),
  reversedMicros: micros,
});

/** What a request for a report names. */
export type ReportQuery = z.output<typeof reportQuery>;

const audience = (what: string) => z.string().max(16).optional().describe(what);
/** A report, whole or a page of it. */
const statsQuery = reportQuery.extend({
  country: audience("Of users in one country (ISO 3166), as DE; other: unknown or rare."),
  platform: audience(`Of users of ${platforms.join(", ")}, or other.`),
  language: audience("Of users with one language (ISO 639-1), as de; other: unknown or rare."),
  premium: audience("Of premium or regular users, or other."),
  by: by.prefault("day").describe(`Up to ${MAX_DIMENSIONS} of ${dimensions.join(", ")}, separated by commas.`),
  compare: z
    .enum(comparisons)
    .optional()
    .describe("With the range of the same length that ends where this one begins, or the latest of the same weekdays."),
  orderBy: z.enum(reportOrders).optional().describe("Default: the time; without a time, spend and activity."),
  order: z.enum(sortDirections).default("descending").describe("With `orderBy`."),
});

/** What a request for a report names. */
export type StatsQuery = z.output<typeof statsQuery>;

/** The objects that a report is limited to, of those with a name that its reader may see. */
const ofNames = z.partialRecord(z.enum(namedDimensions), z.string());

const row = reportFigures.extend({
  key: z.string().describe("The values of the dimensions, separated by blanks."),
  name: z.string().optional().describe("Of the bot, campaign, creative or advertiser of the only dimension."),
  keys: z.partialRecord(z.enum(dimensions), z.string()).describe("'' is what belongs to none, or was not recorded."),
  names: z.partialRecord(z.enum(dimensions), z.string()),
  before: reportFigures.optional().describe("The same row of the range that is compared with."),
});

export const statisticsRoutes = {
  readStats: {
    method: "GET",
    path: "/stats",
    access: { ...grants.moneyReaders, ...grants.ownBot, ...grants.ownAdvertiser },
    description: "The statistics of all bots, or of one bot, advertiser, campaign or creative.",
    query: statsQuery.extend({
      cursor: z.string().max(1024).optional().describe("The `next` of the page before."),
      limit: listLimitFrom(1000),
    }),
    answer: z.object({
      currency: z.string(),
      by: z.string().describe("As requested: `day,campaign`."),
      timeZone: z.string(),
      from: moment,
      to: moment,
      of: ofNames.optional().describe("The names of the objects that the report is limited to."),
      deliveries: z
        .object({
          delivered: z.int(),
          underWay: z.int(),
          failed: z.int(),
          successRate: share,
          since: moment.optional().describe("Only of events since then: earlier webhooks are no longer kept."),
        })
        .optional()
        .describe("Of the period's events; absent if the report is about less than whole bots."),
      countedUntil: moment.optional().describe("Every row that was committed before is counted."),
      conversionSums: z.array(conversionSum),
      rows: z.array(row),
      next: z.string().nullable().describe("Send it as `cursor` for the next page; null: this is the last one."),
      total: reportFigures.describe("Of all pages."),
      comparison: z
        .object({ from: moment, to: moment, total: reportFigures })
        .optional()
        .describe("The range that is compared with."),
    }),
  },
  exportStats: {
    method: "GET",
    path: "/stats.csv",
    access: { ...grants.moneyReaders, ...grants.ownBot, ...grants.ownAdvertiser },
    description: "The rows of the same report as CSV (RFC 4180), all pages.",
    query: statsQuery.extend({
      heading: z
        .stringbool()
        .default(true)
        .describe("Whether lines with the period and the zone, and an empty one, stand before the columns."),
    }),
    answerTypes: ["text/csv; charset=utf-8"],
    answer: z.string(),
  },
  sumUsers: {
    method: "GET",
    path: "/stats/users",
    access: { ...grants.moneyReaders, ...grants.ownBot, ...grants.ownAdvertiser },
    description: "How many users requested an ad or clicked a direct link in a period, and the revenue for each.",
    query: reportQuery,
    answer: z.object({
      currency: z.string(),
      timeZone: z.string(),
      from: moment,
      to: moment,
      state: z
        .enum(["read", "too-many", "not-kept"])
        .describe(
          "`too-many`: more requests than one answer reads; `not-kept`: some of the period are no longer kept.",
        ),
      users: z.int().optional().describe("By their Telegram ids: a user of two bots is one."),
      userDays: z.int().optional().describe("On how many days of the zone each came, added up."),
      returningUsers: z.int().optional().describe("Who came on more than one day."),
      nextDayShare: share
        .optional()
        .describe(
          "Of the users of a day, the part that came on the next one, while that is over; null: no day has one.",
        ),
      revenuePerUserMicros: micros.nullable().optional().describe("Not for advertisers."),
      revenuePerUserDayMicros: micros.nullable().optional().describe("Not for advertisers."),
    }),
  },
  sumConversions: {
    method: "GET",
    path: "/conversions/sums",
    access: grants.readers,
    description: "The conversions of a period for each event and currency, and the refused postbacks by reason.",
    query: reportQuery,
    answer: z.object({
      from: moment,
      to: moment,
      sums: z.array(conversionSum),
      refused: z.partialRecord(conversionRefusal, z.int()).describe("Refused postbacks of all advertisers, by reason."),
    }),
  },
} as const satisfies OperatorRoutes;
