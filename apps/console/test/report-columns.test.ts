import { expect, test } from "vitest";
import { columnsOf, namedColumns } from "../src/reports/columns.ts";
import type { Figures } from "../src/reports/figures.ts";
import { stepsOf } from "../src/reports/report-funnel.tsx";

const counts = {
  requests: 200,
  fills: 100,
  fillRate: 0.5,
  starts: 80,
  rewards: 40,
  clicks: 3,
  conversions: 1,
  taps: 4,
};
const quarters = { firstQuartiles: 70, midpoints: 60, thirdQuartiles: 50, completions: 40 };
// Only these are read.
const total = { ...counts, ...quarters, spendMicros: 5, revenueMicros: 4, ecpmMicros: 3 } as Figures;
const { spendMicros, ...ofPublisher } = total;

test("columns are those of the address, money first, without what the reader may not see", () => {
  expect(columnsOf({ columns: "clicks,requests,spendMicros" }, total)).toEqual(["spendMicros", "requests", "clicks"]);
  expect(columnsOf({ columns: "clicks,spendMicros" }, ofPublisher)).toEqual(["clicks"]);
  const usual = [
    "spendMicros",
    "revenueMicros",
    "ecpmMicros",
    "requests",
    "fillRate",
    "rewards",
    "clicks",
    "conversions",
  ];
  for (const columns of [undefined, "usual", "luck"]) expect(columnsOf({ columns }, total)).toEqual(usual);
});

test("what is chosen is named in one order, and the usual columns by one word", () => {
  expect(namedColumns(["clicks", "spendMicros"])).toBe("spendMicros,clicks");
  expect(namedColumns(columnsOf({}, total).toReversed())).toBe("usual");
  expect(namedColumns([])).toBe("usual");
});

test("the funnel has each step against the one before; a campaign has no requests that were not filled", () => {
  const steps = stepsOf(total, []);
  expect(steps.map(({ step }) => step)).toEqual([
    "requests",
    "fills",
    "starts",
    "firstQuartiles",
    "midpoints",
    "thirdQuartiles",
    "completions",
    "rewards",
    "taps",
    "conversions",
  ]);
  expect(steps[0]).toEqual({ step: "requests", count: 200, ofFirst: 1, ofBefore: undefined });
  expect(steps[2]).toEqual({ step: "starts", count: 80, ofFirst: 0.4, ofBefore: 0.8 });
  expect(stepsOf(total, ["country", "campaign"])[0]).toMatchObject({ step: "fills", ofFirst: 1 });
  expect(stepsOf({ ...total, requests: 0 }, [])[0]).toMatchObject({ ofFirst: undefined });
});
