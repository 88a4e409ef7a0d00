import { describe, expect, test } from "vitest";
import { timeRange } from "./time-range.ts";

const now = new Date("2026-03-08T12:34:56Z");
const rangeOf = ({ from, to }: { from?: string; to?: string }, by = "day") => {
  const bounds = {
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
  const range = timeRange(bounds, by, now);
  return range.outcome === "range" ? [range.from.toISOString(), range.to.toISOString()] : range.message;
};

describe("the requested period of statistics", () => {
  test.each([
    [
      "without bounds: seven days, including the current hour",
      {},
      ["2026-03-02T00:00:00.000Z", "2026-03-08T13:00:00.000Z"],
    ],
    [
      "a day ends where the next begins",
      { from: "2026-03-01", to: "2026-03-02" },
      ["2026-03-01T00:00:00.000Z", "2026-03-02T00:00:00.000Z"],
    ],
    [
      "a week up to midnight is seven days",
      { to: "2026-03-08" },
      ["2026-03-01T00:00:00.000Z", "2026-03-08T00:00:00.000Z"],
    ],
    [
      "minutes are widened to hours",
      { from: "2026-03-08T10:59:00Z", to: "2026-03-08T11:01:00Z" },
      ["2026-03-08T10:00:00.000Z", "2026-03-08T12:00:00.000Z"],
    ],
    [
      "an empty period is refused",
      { from: "2026-03-02", to: "2026-03-02" },
      "must be before the end (2026-03-02T00:00:00.000Z)",
    ],
    [
      "an end before the start is refused, also within one hour",
      { from: "2026-03-08T10:40:00Z", to: "2026-03-08T10:20:00Z" },
      "must be before the end (2026-03-08T10:20:00.000Z)",
    ],
    ["a start in the future is refused", { from: "2026-03-09" }, "must be before the end (now, where no end is named)"],
  ])("%s", (_name, bounds, expected) => {
    expect(rangeOf(bounds)).toEqual(expected);
  });

  test("the period is at most 31 days by hour, else 400 days", () => {
    const year = { from: "2025-03-08", to: "2026-03-08" };
    expect(rangeOf(year, "hour")).toBe("must be at most 31 days before the end, by hour");
    expect(rangeOf(year, "campaign")).toHaveLength(2);
    expect(rangeOf({ from: "2020-01-01" }, "campaign")).toContain("400 days");
  });

  test("a month by hour has its days, also the one in which clocks are set back", () => {
    const october = { from: new Date("2025-09-30T22:00:00Z"), to: new Date("2025-10-31T23:00:00Z") };
    expect(timeRange(october, "hour", now, "Europe/Berlin")).toEqual({ outcome: "range", ...october });
    const more = { ...october, from: new Date("2025-09-30T21:00:00Z") };
    expect(timeRange(more, "hour", now, "Europe/Berlin")).toMatchObject({ outcome: "bad-range", field: "from" });
  });
});
