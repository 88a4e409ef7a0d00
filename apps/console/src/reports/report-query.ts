import { readerOfRole } from "@intermission/operator-api/access";
import { dayOf, daysLater, startOfDay } from "@intermission/operator-api/days-in-zone";
import { type Dimension, type ReportOrder, seenBy } from "@intermission/operator-api/report-figures";
import type { Person } from "@intermission/operator-api/session";
import type { ReportObject, ReportsSearch } from "./search.ts";

/** That of the browser, unless the address names one. */
export const zoneOf = ({ zone }: ReportsSearch): string => zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

/**
 * The nearest report that a person may read. A link of a person with another role or other bots opens without the parts that
 * this person may not see.
 */
export function readableBy({ role, botIds }: Pick<Person, "role" | "botIds">, search: ReportsSearch): ReportsSearch {
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

/** What the rows are split by: the days, unless the address names something else. */
export function dimensionsOf({ time, by, also }: ReportsSearch): Dimension[] {
  if (time === undefined && by === undefined) return ["day"];
  return [time, by, by && also !== by ? also : undefined].filter((one) => one !== undefined);
}

/** The first and the last day of a report. */
export function daysOf(search: ReportsSearch, now: Date): { from: string; to: string } {
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

/** An address as the query of the report's route and of its CSV file, which so are the same report. */
export function reportQueryOf(search: ReportsSearch, now = new Date()) {
  const { range, compare, bot, campaign, creative, advertiser, country, platform, language, premium } = search;
  const timeZone = zoneOf(search);
  const days = range === undefined ? search : daysOf(search, now);
  // A range until now is compared with one as long: the rest of today is not a part of it.
  const to = range !== undefined && days.to === dayOf(timeZone, now) ? undefined : days.to;
  return {
    by: dimensionsOf(search).join(","),
    timeZone,
    from: days.from && startOfDay(timeZone, days.from).toISOString(),
    // The last day counts whole.
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

/** The order after a press on a column: descending, ascending, the report's own. */
export function nextOrder(
  { orderBy, order }: ReportsSearch,
  column: ReportOrder,
): Pick<ReportsSearch, "orderBy" | "order"> {
  if (orderBy !== column) return { orderBy: column, order: undefined };
  return order === undefined ? { orderBy: column, order: "ascending" } : { orderBy: undefined, order: undefined };
}

/** A figure against the one before, as a share: 0.1 is ten percent more; undefined: there is none to compare with. */
export function changeOf(now: number | null | undefined, before: number | null | undefined): number | undefined {
  if (now === null || now === undefined || before === null || before === undefined || before === 0) return undefined;
  // Where refunds outweigh what was spent, more is still more.
  return (now - before) / Math.abs(before);
}
