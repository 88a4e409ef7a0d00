import type { ReportOrder } from "@intermission/operator-api/report-figures";
import type { ReportsSearch } from "./search.ts";

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
