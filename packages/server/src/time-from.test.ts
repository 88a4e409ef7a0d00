import { expect, test } from "vitest";
import { timeFrom } from "./command-options.ts";

const noon = new Date("2026-03-01T12:00:00.000Z");

test.each([
  ["2026-03-01T12:00:00.400Z", "now"],
  ["2026-03-01T11:59:57.000Z", "3 s ago"],
  ["2026-03-01T11:58:01.000Z", "119 s ago"],
  ["2026-03-01T11:58:00.000Z", "2 min ago"],
  ["2026-03-01T09:30:00.000Z", "2 h ago"],
  ["2026-02-20T12:00:00.000Z", "9 d ago"],
  ["2026-03-01T12:00:24.000Z", "in 24 s"],
  ["2026-03-03T12:00:00.000Z", "in 2 d"],
])("%s is %s at noon", (moment, words) => {
  expect(timeFrom(noon, moment)).toBe(words);
});

test("a value that is not a moment returns undefined", () => {
  for (const nothing of [null, undefined, "", "soon", 3]) expect(timeFrom(noon, nothing)).toBeUndefined();
});
