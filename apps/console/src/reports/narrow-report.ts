import type { ReportObject } from "@intermission/operator-api/report-address";
import { dimensionsOf } from "@intermission/operator-api/report-address";
import { audienceDimensions, objectDimensions } from "@intermission/operator-api/report-figures";
import type { Row } from "./figures.ts";
import type { ReportsSearch } from "./search.ts";

/**
 * The report of one row: it is limited to the row's objects and day, and split by what is left of the report's dimensions, else
 * by the time. Undefined: what belongs to no object, or was not recorded, and an hour are no reports of their own.
 */
export function narrowed(search: ReportsSearch, { keys }: Pick<Row, "keys">): ReportsSearch | undefined {
  const dimensions = dimensionsOf(search);
  const split = objectDimensions.filter((object) => dimensions.includes(object));
  const known = split.filter((object) => keys[object]);
  const { day } = keys;
  if (known.length === 0 && day === undefined) return undefined;
  const [by, also] = dimensions.filter(
    (one): one is ReportObject => split.some((object) => object === one) && !known.some((object) => object === one),
  );
  return {
    ...search,
    ...Object.fromEntries(known.map((object) => [object, keys[object]])),
    ...(day !== undefined && { range: undefined, from: day, to: day, time: "hour" }),
    by,
    also,
    orderBy: undefined,
    order: undefined,
  };
}

/** Whether the server has sums of both: none are of a creative and an audience. */
function isSummed(one: ReportObject, other: ReportObject): boolean {
  const isOfAudience = (object: ReportObject) => audienceDimensions.some((dimension) => dimension === object);
  return !(one === "creative" && isOfAudience(other)) && !(other === "creative" && isOfAudience(one));
}

/** What rows may be split by, beside what a report is split by or limited to. */
export function isSplittable(object: ReportObject, beside: readonly (ReportObject | undefined)[]): boolean {
  return beside.every((other) => other === undefined || (other !== object && isSummed(object, other)));
}

/** The objects that a report is limited to. */
export function limitsOf(search: ReportsSearch): ReportObject[] {
  return objectDimensions.filter((object) => search[object] !== undefined);
}
