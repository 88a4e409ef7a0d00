import { timeZone } from "@intermission/operator-api/fields";
import { comparisons, objectDimensions, reportOrders } from "@intermission/operator-api/report-figures";
import { z } from "zod";
import { searchOf } from "../operator/address-search.ts";

export type ReportObject = (typeof objectDimensions)[number];
export const times = ["day", "hour"] as const;
/** Days that move with the calendar; without one, and without days, the last seven. */
export const ranges = ["today", "yesterday", "28-days", "this-month", "last-month"] as const;
export type ReportRange = (typeof ranges)[number];
/** What the place of the chart may show instead of a figure. */
const parts = ["funnel", "users"] as const;
export type ReportPart = (typeof parts)[number];

const day = z.iso.date();
const key = z.string().min(1).max(64);

/**
 * A report as its address says it. `to` is the last day; rows are split by the time, by `by` and by `also`, and limited to the
 * objects that are named; `columns` are names of figures with commas, or `usual`; `figure` is that of the chart.
 */
export const reportsSearch = searchOf(
  z.object({
    range: z.enum(ranges),
    from: day,
    to: day,
    zone: timeZone,
    time: z.enum(times),
    by: z.enum(objectDimensions),
    also: z.enum(objectDimensions),
    compare: z.enum(comparisons),
    bot: z.string().regex(/^\d{1,20}$/),
    campaign: key,
    creative: key,
    advertiser: key,
    country: key,
    platform: key,
    language: key,
    premium: key,
    columns: z.string().max(800),
    orderBy: z.enum(reportOrders),
    order: z.enum(["ascending"]),
    figure: z.enum([...reportOrders, ...parts]),
  }),
);
export type ReportsSearch = ReturnType<typeof reportsSearch>;
