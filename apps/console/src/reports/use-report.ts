import { statisticsRoutes } from "@intermission/operator-api/statistics";
import { useQuery } from "@tanstack/react-query";
import { callOperator, type RouteInput } from "../operator/call-operator.ts";
import type { Report } from "./figures.ts";

/** Pages of 1000 rows: 90 days of 50 campaigns. */
const MAX_PAGES = 5;

export type ReportQuery = NonNullable<RouteInput<typeof statisticsRoutes.readStats>["query"]>;

/** A report with the rows of its first pages; `next` is null if these are all. A chart by time needs the last day, too. */
export function useReport(query: ReportQuery) {
  return useQuery<Report, Error>({
    queryKey: [statisticsRoutes.readStats.path, "whole", query],
    queryFn: async ({ signal }) => {
      const read = (cursor?: string) =>
        callOperator(statisticsRoutes.readStats, { query: { ...query, cursor } }, signal);
      let report = await read();
      for (let page = 1; page < MAX_PAGES && report.next !== null; page += 1) {
        const more = await read(report.next);
        report = { ...more, rows: [...report.rows, ...more.rows] };
      }
      return report;
    },
  });
}
