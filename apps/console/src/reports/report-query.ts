import { readerOfRole } from "@intermission/operator-api/access";
import { daysLater, startOfDay } from "@intermission/operator-api/days-in-zone";
import type { Person } from "@intermission/operator-api/people";
import { type Dimension, type ReportOrder, seenBy } from "@intermission/operator-api/statistics";
import type { ReportsSearch } from "./search.ts";

/** That of the browser, unless the address names one. */
export const zoneOf = ({ zone }: ReportsSearch): string => zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The same report for each reader, whose browser may have another zone. */
export const withZone = (search: ReportsSearch): ReportsSearch => ({ ...search, zone: zoneOf(search) });

/**
 * The nearest report that a person may read. A link of a person with another role or other bots opens without the parts that
 * this person may not see.
 */
export function readableBy({ role, botIds }: Pick<Person, "role" | "botIds">, search: ReportsSearch): ReportsSearch {
  const { hidden, dimensions } = seenBy[readerOfRole[role]];
  const isHidden = (figure: ReportOrder | undefined) => hidden.some((one) => one === figure);
  const isForeign = role === "publisher" && search.bot !== undefined && !botIds.includes(search.bot);
  return {
    ...search,
    ...(search.by !== undefined && !dimensions.includes(search.by) && { by: undefined }),
    ...(isHidden(search.orderBy) && { orderBy: undefined, order: undefined }),
    ...(isHidden(search.figure) && { figure: undefined }),
    ...(isForeign && { bot: undefined }),
  };
}

/** What the rows are split by: the days, unless the address names something else. */
export function dimensionsOf({ time, by }: ReportsSearch): Dimension[] {
  if (time === undefined && by === undefined) return ["day"];
  return [time, by].filter((one) => one !== undefined);
}

/** An address as the query of the report's route and of its CSV file, which so are the same report. */
export function reportQueryOf(search: ReportsSearch) {
  const { from, to, compare, bot, campaign, orderBy, order } = search;
  const timeZone = zoneOf(search);
  return {
    by: dimensionsOf(search).join(","),
    timeZone,
    from: from && startOfDay(timeZone, from).toISOString(),
    // The last day counts whole.
    to: to && startOfDay(timeZone, daysLater(to, 1)).toISOString(),
    compare,
    botId: bot,
    campaignId: campaign,
    orderBy,
    order: orderBy && order,
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
