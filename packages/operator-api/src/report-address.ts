import { z } from "zod";
import { readerOfRole } from "./access.ts";
import { dayOf, daysLater, startOfDay } from "./days-in-zone.ts";
import { timeZone } from "./fields.ts";
import { comparisons, type Dimension, objectDimensions, reportOrders, seenBy } from "./report-figures.ts";
import type { Person } from "./session.ts";

export type ReportObject = (typeof objectDimensions)[number];
export const times = ["day", "hour"] as const;
/** Ranges relative to the current day. Without a range and without days, a report has the last seven days. */
export const ranges = ["today", "yesterday", "28-days", "this-month", "last-month"] as const;
export type ReportRange = (typeof ranges)[number];
/** Parts that replace the chart of a figure. */
const parts = ["funnel", "users"] as const;
export type ReportPart = (typeof parts)[number];

const day = z.iso.date();
const key = z.string().min(1).max(64);

/**
 * The query of a report's address in the console. `to` is the last day; rows are split by the time, by `by` and by `also`, and
 * limited to the objects that are named; `columns` are names of figures with commas, or `usual`; `figure` is that of the chart.
 */
export const reportAddress = z.object({
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
});
type Fields = z.output<typeof reportAddress>;
export type ReportAddress = { [Field in keyof Fields]?: Fields[Field] | undefined };

/** Parses a saved query. Values that are no longer known are dropped, as in the console. */
export function readReportAddress(query: string): ReportAddress {
  const written = new URLSearchParams(query);
  const fields = Object.entries<z.ZodType>(reportAddress.shape).flatMap(([name, schema]) => {
    const text = written.get(name);
    const parsed = text === null ? undefined : schema.safeParse(text);
    return parsed?.success ? [[name, parsed.data]] : [];
  });
  // Each field was read by its own schema.
  return Object.fromEntries(fields) as ReportAddress;
}

/** The zone of the address, or the reader's. */
export const zoneOf = ({ zone }: ReportAddress): string => zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Removes the parts of a report that a person may not see, so that links work between persons of other roles or bots. */
export function readableBy<Address extends ReportAddress>(
  { role, botIds }: Pick<Person, "role" | "botIds">,
  search: Address,
): Address {
  const { hidden, dimensions } = seenBy[readerOfRole[role]];
  const isHidden = (figure: string | undefined) => hidden.some((one) => one === figure);
  const isUnseen = (object: ReportObject | undefined) => object !== undefined && !dimensions.includes(object);
  const isForeign = role === "publisher" && search.bot !== undefined && !botIds.includes(search.bot);
  return {
    ...search,
    ...(isUnseen(search.by) && { by: undefined }),
    ...(isUnseen(search.also) && { also: undefined }),
    ...(isUnseen("advertiser") && { advertiser: undefined }),
    ...(isHidden(search.orderBy) && { orderBy: undefined, order: undefined }),
    ...(isHidden(search.figure) && { figure: undefined }),
    ...(isForeign && { bot: undefined }),
  };
}

/** The dimensions of the rows; default: days. */
export function dimensionsOf({ time, by, also }: ReportAddress): Dimension[] {
  if (time === undefined && by === undefined) return ["day"];
  return [time, by, by && also !== by ? also : undefined].filter((one) => one !== undefined);
}

/** The first and the last day of a report. */
export function daysOf(search: ReportAddress, now: Date): { from: string; to: string } {
  const today = dayOf(zoneOf(search), now);
  const firstOfMonth = `${today.slice(0, 8)}01`;
  switch (search.range) {
    case undefined: {
      const { to = today, from = daysLater(to, -6) } = search;
      return { from, to };
    }
    case "today":
      return { from: today, to: today };
    case "yesterday":
      return { from: daysLater(today, -1), to: daysLater(today, -1) };
    case "28-days":
      return { from: daysLater(today, -27), to: today };
    case "this-month":
      return { from: firstOfMonth, to: today };
    case "last-month": {
      const to = daysLater(firstOfMonth, -1);
      return { from: `${to.slice(0, 8)}01`, to };
    }
    default:
      throw search.range satisfies never;
  }
}

/** The query of the report's route and of its CSV file, so that both have the same figures. */
export function reportQueryOf(search: ReportAddress, now = new Date()) {
  const { range, compare, bot, campaign, creative, advertiser, country, platform, language, premium } = search;
  const timeZone = zoneOf(search);
  const days = range === undefined ? search : daysOf(search, now);
  // A range until now is compared with one of the same length, so it excludes the rest of today.
  const to = range !== undefined && days.to === dayOf(timeZone, now) ? undefined : days.to;
  return {
    by: dimensionsOf(search).join(","),
    timeZone,
    from: days.from && startOfDay(timeZone, days.from).toISOString(),
    // The last day is included.
    to: to && startOfDay(timeZone, daysLater(to, 1)).toISOString(),
    compare,
    botId: bot,
    campaignId: campaign,
    creativeId: creative,
    advertiser,
    country,
    platform,
    language,
    premium,
    orderBy: search.orderBy,
    order: search.orderBy && search.order,
  };
}
