import { daysOf, readableBy, reportQueryOf } from "@intermission/operator-api/report-address";
import { expect, test } from "vitest";
import { isSplittable, narrowed } from "../src/reports/narrow-report.ts";
import { changeOf, nextOrder } from "../src/reports/report-query.ts";
import { findZones, nameOfZone } from "../src/reports/zone-names.ts";

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
  expect(reportQueryOf({ by: "bot", also: "country" }).by).toBe("bot,country");
  expect(reportQueryOf({ time: "day", by: "bot", also: "country" }).by).toBe("day,bot,country");
  expect(reportQueryOf({ by: "bot", also: "bot" }).by).toBe("bot");
  expect(reportQueryOf({ also: "bot" }).by).toBe("day");
});

test("a range moves with the calendar of the report's zone", () => {
  // In Auckland it is the first of March, at 01:30.
  const now = new Date("2026-02-28T12:30:00Z");
  const days = (search: Parameters<typeof daysOf>[0]) => Object.values(daysOf(search, now)).join(" ");
  const zone = "Pacific/Auckland";
  expect(days({ zone })).toBe("2026-02-23 2026-03-01");
  expect(days({ zone, range: "today" })).toBe("2026-03-01 2026-03-01");
  expect(days({ zone, range: "yesterday" })).toBe("2026-02-28 2026-02-28");
  expect(days({ zone, range: "28-days" })).toBe("2026-02-02 2026-03-01");
  expect(days({ zone, range: "this-month" })).toBe("2026-03-01 2026-03-01");
  expect(days({ zone, range: "last-month" })).toBe("2026-02-01 2026-02-28");
  expect(days({ zone: "UTC", range: "last-month" })).toBe("2026-01-01 2026-01-31");
  expect(days({ zone, to: "2026-01-10" })).toBe("2026-01-04 2026-01-10");
  // Until now: the rest of today is no part of it.
  expect(reportQueryOf({ zone, range: "28-days" }, now)).toMatchObject({
    from: "2026-02-01T11:00:00.000Z",
    to: undefined,
  });
  expect(reportQueryOf({ zone, range: "yesterday" }, now)).toMatchObject({
    from: "2026-02-27T11:00:00.000Z",
    to: "2026-02-28T11:00:00.000Z",
  });
  // A range wins over days of an older address.
  expect(reportQueryOf({ zone, range: "yesterday", from: "2020-01-01" }, now).from).toBe("2026-02-27T11:00:00.000Z");
});

test("a row is a report of its own, split by what is left", () => {
  const row = (keys: Parameters<typeof narrowed>[1]["keys"]) => ({ keys });
  expect(narrowed({ by: "bot", orderBy: "clicks" }, row({ bot: "7" }))).toEqual({ bot: "7" });
  expect(narrowed({ by: "bot", also: "country" }, row({ bot: "7", country: "DE" }))).toEqual({
    bot: "7",
    country: "DE",
  });
  // What was not recorded is no filter.
  expect(narrowed({ by: "bot", also: "country" }, row({ bot: "7", country: "" }))).toEqual({ bot: "7", by: "country" });
  expect(narrowed({ by: "country" }, row({ country: "" }))).toBeUndefined();
  const day = { from: "2026-03-01", to: "2026-03-01", time: "hour" };
  expect(narrowed({ range: "28-days" }, row({ day: "2026-03-01" }))).toEqual(day);
  expect(narrowed({ time: "day", by: "campaign" }, row({ day: "2026-03-01", campaign: "cmp_1" }))).toEqual({
    ...day,
    campaign: "cmp_1",
  });
  expect(narrowed({ time: "hour" }, row({ hour: "2026-03-01T10:00:00Z" }))).toBeUndefined();
  expect(narrowed({ time: "hour", by: "bot" }, row({ hour: "2026-03-01T10:00:00Z", bot: "7" }))).toEqual({
    time: "hour",
    bot: "7",
  });
});

test("nothing is split by a creative and an audience, of which there are no sums", () => {
  expect(isSplittable("country", ["creative"])).toBe(false);
  expect(isSplittable("creative", [undefined, "premium"])).toBe(false);
  expect(isSplittable("country", ["campaign", "platform"])).toBe(true);
  expect(isSplittable("bot", ["bot"])).toBe(false);
});

test("a zone is found by today's name, the name of before, its city, and its place in the reader's language", () => {
  expect([nameOfZone("Europe/Kiev"), nameOfZone("Asia/Calcutta"), nameOfZone("Asia/Tokyo")]).toEqual([
    "Europe/Kyiv",
    "Asia/Kolkata",
    "Asia/Tokyo",
  ]);
  const first = (language: string, text: string) => findZones(text, language)[0];
  expect(["Kyiv", "kiev", "Kolkata", "calcutta", "buenos", "new york", "utc"].map((text) => first("en", text))).toEqual(
    [
      "Europe/Kyiv",
      "Europe/Kyiv",
      "Asia/Kolkata",
      "Asia/Kolkata",
      "America/Argentina/Buenos_Aires",
      "America/New_York",
      "UTC",
    ],
  );
  expect(["Индия", "япония"].map((text) => first("ru", text))).toEqual(["Asia/Kolkata", "Asia/Tokyo"]);
  expect(first("en", "nowhere")).toBeUndefined();
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
  expect(readableBy({ role: "publisher", botIds: ["7"] }, { also: "advertiser", advertiser: "adv_1" })).toEqual({});
  expect(readableBy({ role: "publisher", botIds: ["8", "7"] }, search)).toMatchObject({ bot: "7", by: undefined });
  expect(readableBy({ role: "advertiser", botIds: [] }, search)).toEqual({ ...search, figure: undefined });
});
