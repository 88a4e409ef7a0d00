import { z } from "zod";
import { counts, micros } from "./fields.ts";

/** Whose report it is: those of publishers and advertisers leave out the money of the other side. */
export type ReportReader = "staff" | "publisher" | "advertiser";

/** Dimensions whose keys are ids of objects that have a name. */
export const namedDimensions = ["bot", "campaign", "creative", "advertiser"] as const;
export type NamedDimension = (typeof namedDimensions)[number];

/** The properties by which the statistics group users. Each has few values; `other` is an unknown or rare one. */
export const audienceDimensions = ["country", "platform", "language", "premium"] as const;

/** What the rows of a report are split by beside the time. */
export const objectDimensions = [...namedDimensions, ...audienceDimensions] as const;
/** What the rows of a report are split by. */
export const dimensions = ["hour", "day", ...objectDimensions] as const;
export type Dimension = (typeof dimensions)[number];

/** The range that a report is compared with: the one that ends where it begins, or the latest with the same weekdays. */
export const comparisons = ["previous", "weekdays"] as const;
export type Comparison = (typeof comparisons)[number];

export const sortDirections = ["descending", "ascending"] as const;

/** Amounts that one side must not know of the other. */
export type HiddenFigure = "spendMicros" | "revenueMicros" | "ecpmMicros";

/** What the reports of each reader show. Publishers do not see who pays; names are the operator's own. */
export const seenBy: Record<
  ReportReader,
  { hidden: readonly HiddenFigure[]; dimensions: readonly Dimension[]; names: readonly Dimension[] }
> = {
  staff: { hidden: [], dimensions, names: namedDimensions },
  publisher: {
    hidden: ["spendMicros"],
    dimensions: dimensions.filter((one) => one !== "advertiser"),
    names: ["bot"],
  },
  advertiser: { hidden: ["revenueMicros", "ecpmMicros"], dimensions, names: ["campaign", "creative", "advertiser"] },
};

/** Why a request got no ad: no campaign runs in the format; or those that run do not match it, are full, or are ahead of their plan. */
export const noAdReasons = ["no-campaign", "none-fits"] as const;
export type NoAdReason = (typeof noAdReasons)[number];

export const share = z.number().nullable();
/** The figures of a period, a campaign, a bot or all. Counts are exact; shares are null where the divisor is zero. */
export const reportFigures = z.object({
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
  taps: z.int().describe("Clicks on the button beside a video, the first of each view that began."),
  tapRate: share,
  clicks: z.int(),
  clicksRefused: counts,
  conversions: z.int(),
  interstitials: z.int().describe("Interstitials that were charged."),
  tasks: z.int().describe("Tasks that were paid, with those that were taken back later."),
  refunds: counts.describe("Refunded charges of views, clicks and tasks: not part of spend, revenue and eCPM."),
  noFillCount: z.int().describe("Of all reasons; reports by audience have no counts by reason."),
  limitedCount: z.int(),
  requestsRefusedCount: z.int(),
  closeCount: z.int(),
  viewsHeldCount: z.int(),
  viewsRefusedCount: z.int(),
  playbackFaultCount: z.int(),
  clicksRefusedCount: z.int(),
  refundCount: z.int(),
  spendMicros: micros.optional().describe("Not for publishers."),
  revenueMicros: micros.optional().describe("The publishers' share; not for advertisers."),
  ecpmMicros: micros.nullable().optional().describe("The revenue of views per thousand views; not for advertisers."),
});

type ReportFigures = z.infer<typeof reportFigures>;
/** What the rows of a report can be ordered by: all figures but the counts by reason. */
export type ReportOrder = {
  [Name in keyof ReportFigures]-?: ReportFigures[Name] extends number | null | undefined ? Name : never;
}[keyof ReportFigures];
// Entries lose the names of their types.
export const reportOrders = Object.entries(reportFigures.shape).flatMap(([name, schema]) =>
  schema instanceof z.ZodRecord ? [] : [name],
) as ReportOrder[];
