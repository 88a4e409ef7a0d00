import { expect, test } from "vitest";
import { changeOf, nextOrder, readableBy, reportQueryOf } from "../src/reports/report-query.ts";

test("the days of a report begin and end by the clocks of its zone, and the last day counts whole", () => {
  const range = { from: "2026-03-28", to: "2026-03-29" };
  expect(reportQueryOf({ ...range, zone: "Asia/Kolkata" })).toMatchObject({
    by: "day",
    timeZone: "Asia/Kolkata",
    from: "2026-03-27T18:30:00.000Z",
    to: "2026-03-29T18:30:00.000Z",
  });
  // The clocks go forward on the last day.
  expect(reportQueryOf({ ...range, zone: "Europe/Berlin" })).toMatchObject({
    from: "2026-03-27T23:00:00.000Z",
    to: "2026-03-29T22:00:00.000Z",
  });
});

test("a report is split by the time, by an object, or by both", () => {
  expect(reportQueryOf({ by: "campaign" }).by).toBe("campaign");
  expect(reportQueryOf({ time: "hour", by: "bot" }).by).toBe("hour,bot");
});

test("a column is ordered down, then up, then as the report orders by itself", () => {
  const down = nextOrder({}, "clicks");
  expect(down).toEqual({ orderBy: "clicks", order: undefined });
  expect(nextOrder(down, "clicks")).toEqual({ orderBy: "clicks", order: "ascending" });
  expect(nextOrder({ orderBy: "clicks", order: "ascending" }, "clicks")).toEqual({
    orderBy: undefined,
    order: undefined,
  });
  expect(nextOrder(down, "rewards")).toEqual({ orderBy: "rewards", order: undefined });
});

test("nothing is said of a change from nothing", () => {
  expect(changeOf(110, 100)).toBeCloseTo(0.1);
  expect(changeOf(0, 100)).toBe(-1);
  expect(changeOf(10, -10)).toBe(2);
  expect(changeOf(-20, -10)).toBe(-1);
  expect(changeOf(5, 0)).toBeUndefined();
  expect(changeOf(null, 3)).toBeUndefined();
});

test("the link of an owner opens for others without what they may not see", () => {
  const search = {
    by: "advertiser",
    bot: "7",
    orderBy: "spendMicros",
    order: "ascending",
    figure: "ecpmMicros",
  } as const;
  expect(readableBy({ role: "analyst", botIds: [] }, search)).toEqual(search);
  const nothing = { by: undefined, bot: undefined, orderBy: undefined, order: undefined };
  expect(readableBy({ role: "publisher", botIds: ["8", "9"] }, search)).toEqual({ ...search, ...nothing });
  expect(readableBy({ role: "publisher", botIds: ["8", "7"] }, search)).toMatchObject({ bot: "7", by: undefined });
  expect(readableBy({ role: "advertiser", botIds: [] }, search)).toEqual({ ...search, figure: undefined });
});
