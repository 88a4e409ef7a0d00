import { momentInput, telegramId } from "@intermission/ad-core/client-api";
import { z } from "zod";
import { boundedText, counts, listedId, micros, moment, timeZone } from "./fields.ts";
import type { OperatorRoutes } from "./route.ts";

/** What each row of a report sums up. */
export const dimensions = ["hour", "day", "bot", "campaign", "creative"] as const;
export type Dimension = (typeof dimensions)[number];

/** What a report is about, and its period. */
const reportQuery = z.object({
  botId: telegramId.optional(),
  campaignId: listedId.optional(),
  creativeId: listedId.optional(),
  advertiser: boundedText(128).optional().describe("Of all campaigns of one advertiser; its name in any case."),
  timeZone: timeZone.default("UTC").describe("Of the days; an hour belongs to the day in which it begins."),
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

const share = z.number().nullable();
const figures = z.object({
  requests: z.int(),
  fills: z.int(),
  fillRate: share,
  noFills: counts,
  limited: counts,
  requestsRefused: counts,
  starts: z.int(),
  firstQuartiles: z.int(),
  midpoints: z.int(),
  thirdQuartiles: z.int(),
  completions: z.int(),
  completionRate: share,
  closes: counts,
  rewards: z.int(),
  viewsHeld: counts,
  viewsRefused: counts,
  playbackFaults: counts.describe("Views whose player gave up on the video."),
  taps: z.int().describe("Clicks on the button beside a video, the first of each view."),
  tapRate: share,
  clicks: z.int(),
  clicksRefused: counts,
  conversions: z.int(),
  refunds: counts.describe("Refunded charges of views and clicks: not part of spend, revenue and eCPM."),
  spendMicros: micros,
  revenueMicros: micros,
  ecpmMicros: micros.nullable(),
});

export const statisticsRoutes = {
  readStats: {
    method: "GET",
    path: "/stats",
    description: "The statistics of all bots, or of one bot, advertiser, campaign or creative.",
    query: reportQuery.extend({ by: z.enum(dimensions).default("day") }),
    answer: z.object({
      currency: z.string(),
      by: z.enum(dimensions),
      timeZone: z.string(),
      from: moment,
      to: moment,
      deliveries: z
        .object({ delivered: z.int(), underWay: z.int(), failed: z.int(), successRate: share })
        .optional()
        .describe("Of the period's events; absent if the report is about less than whole bots."),
      countedUntil: moment.optional().describe("Every row that was committed before is counted."),
      conversionSums: z.array(conversionSum),
      rows: z.array(figures.extend({ key: z.string(), name: z.string().optional() })),
      total: figures,
    }),
  },
  sumConversions: {
    method: "GET",
    path: "/conversions/sums",
    description: "The conversions of a period for each event and currency, and the refused postbacks by reason.",
    query: reportQuery,
    answer: z.object({
      from: moment,
      to: moment,
      sums: z.array(conversionSum),
      refused: z.record(z.string(), z.int()).describe("Refused postbacks of all advertisers, by reason."),
    }),
  },
} as const satisfies OperatorRoutes;
