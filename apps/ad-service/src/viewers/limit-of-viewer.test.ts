import { describe, expect, test } from "vitest";
import { limitOfViewer } from "./limit-of-viewer.ts";

const limits = { cooldownSeconds: 60, dailyCap: 3 };
const at = (time: string) => new Date(`2026-03-01T${time}Z`);
const earned = (count: number, time: string) => ({ day: "2026-03-01", earnedToday: count, lastEarnedAt: at(time) });

describe("who may begin to earn", () => {
  test("somebody who never earned is free", () => {
    expect(limitOfViewer(undefined, limits, at("12:00:00"))).toEqual({ outcome: "free" });
  });

  test.each([
    { now: "12:00:59.999", outcome: "limited" },
    { now: "12:01:00.000", outcome: "free" },
  ])("a minute's cooldown at $now: $outcome", ({ now, outcome }) => {
    expect(limitOfViewer(earned(1, "12:00:00"), limits, at(now)).outcome).toBe(outcome);
  });

  test("the cap counts one UTC day", () => {
    const viewer = earned(3, "12:00:00");
    const limit = limitOfViewer(viewer, limits, at("13:00:00"));
    expect(limit).toEqual({ outcome: "limited", reason: "daily-cap", availableAt: new Date("2026-03-02T00:00:00Z") });
    expect(limitOfViewer(viewer, limits, new Date("2026-03-02T00:00:00Z")).outcome).toBe("free");
  });

  test("capped a moment before midnight, the cooldown is waited for as well", () => {
    const limit = limitOfViewer(earned(3, "23:59:30"), limits, at("23:59:40"));
    expect(limit).toMatchObject({ reason: "daily-cap", availableAt: new Date("2026-03-02T00:00:30Z") });
  });

  test("a clock that steps back over midnight does not give the day anew", () => {
    expect(limitOfViewer(earned(3, "00:00:10"), limits, new Date("2026-02-28T23:59:00Z")).outcome).toBe("limited");
  });

  test("a view under way counts as if it had earned, until its deadline", () => {
    const unfinished = { count: 1, lastActiveAt: at("11:00:00"), firstDeadline: at("12:10:00") };
    const limit = limitOfViewer(earned(2, "11:00:00"), limits, at("12:00:00"), unfinished);
    expect(limit).toEqual({ outcome: "limited", reason: "daily-cap", availableAt: at("12:10:00") });
    expect(limitOfViewer(earned(1, "11:00:00"), limits, at("12:00:00"), unfinished).outcome).toBe("free");
  });
});
