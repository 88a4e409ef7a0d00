import { expect, test, vi } from "vitest";
import { dayOf, daysBetween, offsetOf, startOfDay } from "./days-in-zone.ts";

test.each([
  ["UTC", "2026-03-01", "2026-03-01T00:00:00.000Z"],
  ["Europe/Berlin", "2026-03-01", "2026-02-28T23:00:00.000Z"],
  // The clocks change on this day, and on the one before.
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z"],
  ["Europe/Berlin", "2026-03-30", "2026-03-29T22:00:00.000Z"],
  ["America/New_York", "2026-11-02", "2026-11-02T05:00:00.000Z"],
  ["Asia/Kolkata", "2026-03-01", "2026-02-28T18:30:00.000Z"],
  ["Pacific/Kiritimati", "2026-01-01", "2025-12-31T10:00:00.000Z"],
  // Clocks skip midnight.
  ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z"],
])("in %s the day %s begins at %s", (zone, day, start) => {
  const begin = startOfDay(zone, day);
  expect(begin.toISOString()).toBe(start);
  expect(dayOf(zone, begin)).toBe(day);
  expect(dayOf(zone, new Date(begin.getTime() - 1)) < day).toBe(true);
});

test("the days of a period are those that the zone's calendar has", () => {
  const [from, to] = [new Date("2026-03-28T23:00:00Z"), new Date("2026-03-30T22:00:00Z")];
  expect(daysBetween("Europe/Berlin", from, to)).toEqual(["2026-03-29", "2026-03-30"]);
  expect(daysBetween("UTC", from, to)).toEqual(["2026-03-28", "2026-03-29", "2026-03-30"]);
});

test("a zone is prepared once, however often it is asked for, since a report by hour asks for thousands of moments", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat");
  const midnight = Date.parse("2026-03-29T00:00:00Z");
  const offsets = Array.from({ length: 96 }, (_, quarter) =>
    offsetOf("Europe/Lisbon", new Date(midnight + quarter * 900_000)),
  );
  expect(new Set(offsets)).toEqual(new Set([0, 3_600_000]));
  expect(made).toHaveBeenCalledTimes(1);
  made.mockRestore();
});
