import { expect, test } from "vitest";
import { chartOf } from "../src/reports/chart-series.ts";
import type { Report, Row } from "../src/reports/figures.ts";
import { drawnParts } from "../src/reports/line-chart.ts";

const words = { all: "all", before: "before", notRecorded: "not recorded" };

/** A row of a report with these requests; the chart reads nothing else. */
function row(
  keys: Row["keys"],
  requests: number,
  { before, names = {} }: { before?: number; names?: Row["names"] } = {},
) {
  return { keys, names, requests, ...(before !== undefined && { before: { requests: before } }) } as Row;
}
const twoDays = { timeZone: "UTC", from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-03T00:00:00Z") };
const draw = (
  rows: Row[],
  search: Parameters<typeof chartOf>[1],
  range: Omit<Drawn, "rows"> = twoDays,
  now = new Date("2027-01-01T00:00:00Z"),
) => chartOf({ rows, ...range }, search, { figure: "requests", words, language: "ru", now });
type Drawn = Pick<Report, "rows" | "from" | "to" | "timeZone">;

test("days are a line, beside a dashed one of the range before, in order whatever the table is ordered by", () => {
  const rows = [row({ day: "2026-03-02" }, 7, { before: 5 }), row({ day: "2026-03-01" }, 3, { before: 4 })];
  expect(draw(rows, { orderBy: "requests" })).toEqual({
    kind: "lines",
    times: ["2026-03-01", "2026-03-02"],
    lines: [
      { name: "all", values: [3, 7] },
      { name: "before", values: [4, 5], isBefore: true },
    ],
    unfinished: undefined,
    left: 0,
  });
});

test("the day or hour that is not over is drawn by itself, whose figure still grows", () => {
  const rows = [row({ day: "2026-03-01" }, 3, { before: 4 }), row({ day: "2026-03-02" }, 1, { before: 5 })];
  const chart = draw(rows, {}, twoDays, new Date("2026-03-02T09:00:00Z"));
  expect(chart.kind === "lines" && chart.lines.map((line) => drawnParts(chart, line))).toEqual([
    { over: [3, null], rest: [3, 1] },
    { over: [4, 5], rest: undefined },
  ]);
  const unfinished = (search: Parameters<typeof chartOf>[1], now: string, range = twoDays) =>
    draw(rows, search, range, new Date(now));
  expect(unfinished({}, "2026-03-03T00:00:00Z")).toMatchObject({ unfinished: undefined });
  expect(unfinished({ time: "hour" }, "2026-03-02T09:59:59Z")).toMatchObject({ unfinished: 33 });
  const tehran = { ...twoDays, timeZone: "Asia/Tehran" };
  expect(unfinished({}, "2026-03-02T20:29:59Z", tehran)).toMatchObject({ unfinished: 1 });
  expect(unfinished({}, "2026-03-02T20:30:00Z", tehran)).toMatchObject({ unfinished: 2 });
  // Of the first day alone, there is nothing to draw a line from.
  expect(drawnParts({ unfinished: 0 }, { name: "all", values: [2] })).toEqual({ over: [2], rest: undefined });
});

test("hours that a zone's clock shows twice are two places of the line, in the order of time", () => {
  const rows = ["2026-10-25T02:00:00+01:00", "2026-10-25T02:00:00+02:00"].map((hour, n) => row({ hour }, n));
  const range = { from: new Date("2026-10-25T00:00:00Z"), to: new Date("2026-10-25T02:00:00Z") };
  expect(draw(rows, { time: "hour" }, { timeZone: "Europe/Berlin", ...range })).toMatchObject({
    times: ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"],
    lines: [{ values: [1, 0] }],
  });
});

test("the five largest objects get a line each; a day without a row is a zero", () => {
  const rows = [1, 2, 3, 4, 5, 6].flatMap((n) => [
    row({ day: "2026-03-01", bot: `${n}` }, n, { names: { bot: `Bot ${n}` } }),
    ...(n === 6 ? [row({ day: "2026-03-02", bot: "6" }, 1, { names: { bot: "Bot 6" } })] : []),
  ]);
  const chart = draw(rows, { time: "day", by: "bot" });
  expect(chart).toMatchObject({ times: ["2026-03-01", "2026-03-02"], left: 1 });
  expect(chart.kind === "lines" && chart.lines.map(({ name, values }) => [name, ...values])).toEqual([
    ["Bot 6", 6, 1],
    ["Bot 5", 5, 0],
    ["Bot 4", 4, 0],
    ["Bot 3", 3, 0],
    ["Bot 2", 2, 0],
  ]);
});

test("days on which no object has a row are zeros, at the ends and between", () => {
  const rows = ["2026-03-22", "2026-03-24"].map((day) => row({ day, bot: "1" }, 4));
  const range = { from: new Date("2026-03-20T20:30:00Z"), to: new Date("2026-03-25T20:30:00Z") };
  expect(draw(rows, { time: "day", by: "bot" }, { timeZone: "Asia/Tehran", ...range })).toMatchObject({
    times: ["2026-03-21", "2026-03-22", "2026-03-23", "2026-03-24", "2026-03-25"],
    lines: [{ values: [0, 4, 0, 4, 0] }],
  });
});

test("objects without a time are bars in the order of the table, the first fifteen", () => {
  const rows = Array.from({ length: 17 }, (_, n) => row({ country: n === 0 ? "" : `C${n}` }, n, { before: 2 * n }));
  const chart = draw(rows, { by: "country" });
  expect(chart).toMatchObject({ kind: "bars", left: 2 });
  expect(chart.kind === "bars" && chart.bars.slice(0, 2)).toEqual([
    { name: "not recorded", value: 0, before: 0 },
    { name: "C1", value: 1, before: 2 },
  ]);
});

test("an audience is named in the reader's language, whatever is not known stays as it is", () => {
  const named = (dimension: "country" | "language" | "platform", values: string[]) => {
    const chart = draw(
      values.map((value) => row({ [dimension]: value }, 1)),
      { by: dimension },
    );
    return chart.kind === "bars" && chart.bars.map(({ name }) => name);
  };
  expect(named("country", ["DE", "other", ""])).toEqual(["Германия", "прочее", "not recorded"]);
  expect(named("language", ["fa", "other"])).toEqual(["персидский", "прочее"]);
  expect(named("platform", ["desktop", "ios", "watch"])).toEqual(["компьютер", "iOS", "watch"]);
});

test("rows of two objects are a line or a bar each, named after both", () => {
  const rows = [
    row({ bot: "7", country: "DE" }, 5, { names: { bot: "Coins" } }),
    row({ bot: "7", country: "" }, 2, { names: { bot: "Coins" } }),
  ];
  expect(draw(rows, { by: "bot", also: "country" })).toMatchObject({
    kind: "bars",
    bars: [
      { name: "Coins, Германия", value: 5 },
      { name: "Coins, not recorded", value: 2 },
    ],
  });
  const inTime = rows.map((one) => ({ ...one, keys: { ...one.keys, day: "2026-03-01" } }));
  expect(draw(inTime, { time: "day", by: "bot", also: "country" })).toMatchObject({
    lines: [
      { name: "Coins, Германия", values: [5, 0] },
      { name: "Coins, not recorded", values: [2, 0] },
    ],
  });
});
