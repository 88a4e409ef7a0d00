import { timeZone } from "@intermission/operator-api/fields";
import type { Comparison } from "@intermission/operator-api/statistics";
import { reportOrders } from "@intermission/operator-api/statistics";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

/** What a row of a report may be split by, beside the time. */
export const objects = ["bot", "campaign", "creative", "advertiser", "country", "platform", "language"] as const;
export type ReportObject = (typeof objects)[number];
export const times = ["day", "hour"] as const;
export const comparisons = ["previous", "weekdays"] as const satisfies readonly Comparison[];

const day = z.iso.date();

/** A report as its address says it; without a range, the last seven days of the zone. `to` is the last day; `figure` is that of the chart. */
export const reportsSearch = searchOf(
  z.object({
    from: day,
    to: day,
    zone: timeZone,
    time: z.enum(times),
    by: z.enum(objects),
    compare: z.enum(comparisons),
    bot: z.string().regex(/^\d{1,20}$/),
    campaign: z.string().max(64),
    orderBy: z.enum(reportOrders),
    order: z.enum(["ascending"]),
    figure: z.enum(reportOrders),
  }),
);
export type ReportsSearch = ReturnType<typeof reportsSearch>;
