import { viewerLimits } from "@intermission/ad-core/wire-fields";
import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  afterEarning,
  limitOfViewer,
  noUnfinishedViews,
  type UnfinishedViews,
  type ViewerEarnings,
} from "./limit-of-viewer.ts";

interface Case extends Partial<ViewerEarnings>, Partial<Omit<UnfinishedViews, "count">> {
  cooldownSeconds?: number;
  dailyCap?: number;
  unfinished?: number;
}

const at = (time: string) => new Date(`2026-03-01T${time}Z`);
const earned = (count: number, time: string) => ({ day: "2026-03-01", earnedToday: count, lastEarnedAt: at(time) });

describe("when a viewer may earn", () => {
  function limit(of: Case, now: Date) {
    const { day = null, earnedToday = null, lastEarnedAt = null, cooldownSeconds = 60, dailyCap = 3 } = of;
    const { unfinished: count = 0, lastActiveAt = null, firstDeadline = null } = of;
    const earnings = { day, earnedToday, lastEarnedAt };
    return limitOfViewer(earnings, { count, lastActiveAt, firstDeadline }, { cooldownSeconds, dailyCap }, now);
  }
  const free = { outcome: "free" };

  test("a viewer who never earned is free", () => {
    expect(limit({}, at("12:00:00"))).toEqual(free);
  });

  test("a cooldown of a minute ends to the millisecond", () => {
    const viewer = earned(1, "12:00:00");
    expect(limit(viewer, at("12:00:59.999"))).toEqual({
      outcome: "limited",
      reason: "cooldown",
      availableAt: at("12:01:00"),
    });
    expect(limit(viewer, at("12:01:00.000"))).toEqual(free);
  });

  test("without a cooldown, a time that another node's clock dated ahead does not delay the viewer", () => {
    expect(limit({ ...earned(1, "12:00:10"), cooldownSeconds: 0 }, at("12:00:00"))).toEqual(free);
  });

  test("the cap counts one UTC day", () => {
    const viewer = earned(3, "12:00:00");
    const tomorrow = new Date("2026-03-02T00:00:00Z");
    expect(limit(viewer, at("13:00:00"))).toEqual({ outcome: "limited", reason: "daily-cap", availableAt: tomorrow });
    expect(limit(viewer, tomorrow)).toEqual(free);
  });

  test("a viewer capped just before midnight waits for the cooldown as well", () => {
    const availableAt = new Date("2026-03-02T00:00:30Z");
    expect(limit(earned(3, "23:59:30"), at("23:59:40"))).toEqual({
      outcome: "limited",
      reason: "daily-cap",
      availableAt,
    });
  });

  test("a clock that steps back over midnight does not start the day again", () => {
    const [viewer, before] = [earned(3, "00:00:10"), new Date("2026-02-28T23:59:00Z")];
    expect(limit(viewer, before)).toMatchObject({ outcome: "limited", reason: "daily-cap" });
    expect(limit({ ...viewer, cooldownSeconds: 0 }, before)).toMatchObject({ outcome: "limited", reason: "daily-cap" });
  });

  test("a reward, a day or a view that a wrong clock dated days ahead locks nobody out", () => {
    const viewer = { day: "2026-03-11", earnedToday: 3, lastEarnedAt: new Date("2026-03-11T12:00:00Z") };
    expect(limit(viewer, at("12:00:00"))).toEqual(free);
    const elsewhere = { lastActiveAt: new Date("2026-03-11T12:00:00Z") };
    expect(limit(elsewhere, at("12:00:00"))).toEqual(free);
    const [just, availableAt] = [{ ...earned(1, "12:00:30") }, at("12:01:30")];
    expect(limit(just, at("12:00:00"))).toEqual({ outcome: "limited", reason: "cooldown", availableAt });
  });

  test("a view in progress counts as if it had earned, until its deadline", () => {
    const unfinished = { unfinished: 1, lastActiveAt: at("11:00:00"), firstDeadline: at("12:10:00") };
    expect(limit({ ...earned(2, "11:00:00"), ...unfinished }, at("12:00:00"))).toEqual({
      outcome: "limited",
      reason: "daily-cap",
      availableAt: at("12:10:00"),
    });
    expect(limit({ ...earned(1, "11:00:00"), ...unfinished }, at("12:00:00"))).toEqual(free);
    expect(limit({ ...earned(1, "11:00:00"), ...unfinished }, at("11:00:30"))).toEqual({
      outcome: "limited",
      reason: "cooldown",
      availableAt: at("11:01:00"),
    });
  });

  test("the end of a view in progress does not free a cap that is used up", () => {
    const unfinished = { unfinished: 1, lastActiveAt: at("11:00:00"), firstDeadline: at("12:10:00") };
    const availableAt = new Date("2026-03-02T00:00:00Z");
    expect(limit({ ...earned(3, "11:00:00"), ...unfinished }, at("12:00:00"))).toEqual({
      outcome: "limited",
      reason: "daily-cap",
      availableAt,
    });
  });

  test("whoever is limited may earn when the limit ends, unless another view is still in progress", () => {
    // Around midnight, and with clocks that are wrong by up to two days.
    const moment = fc
      .integer({ min: -172_800, max: 172_800 })
      .map((second) => new Date(Date.UTC(2026, 2, 1) + second * 1000));
    const maybe = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: null });
    const viewer = fc.record({
      day: maybe(moment.map((at) => at.toISOString().slice(0, 10))),
      earnedToday: fc.integer({ min: 0, max: 4 }),
      lastEarnedAt: maybe(moment),
    });
    const settings = fc.record({
      cooldownSeconds: fc.constantFrom(0, 60, 3600, 100_000),
      dailyCap: fc.integer({ min: 1, max: 4 }),
    });
    const now = new Date("2026-03-01T00:00:30Z");
    const seen = new Set<string>();
    fc.assert(
      fc.property(viewer, settings, (of, limits) => {
        const limit = limitOfViewer(of, noUnfinishedViews, limits, now);
        seen.add(limit.outcome === "limited" ? limit.reason : limit.outcome);
        if (limit.outcome === "free") return;
        expect(limit.availableAt.getTime()).toBeGreaterThan(now.getTime());
        // A clock ahead by less than a minute may have dated what counts from then on.
        const later = limitOfViewer(of, noUnfinishedViews, limits, limit.availableAt);
        if (of.lastEarnedAt === null || of.lastEarnedAt.getTime() <= now.getTime() + 60_000) {
          if (of.day === null || of.day <= "2026-03-01") expect(later).toEqual(free);
        }
      }),
      { numRuns: runsToReachAll(2000) },
    );
    expect([...seen].toSorted()).toEqual([...viewerLimits, "free"]);
  });

  test("one more earning counts on its day, and begins a new count on the next", () => {
    const none = { day: null, earnedToday: null, lastEarnedAt: null };
    const first = afterEarning(none, at("12:00:00"));
    expect(first).toEqual(earned(1, "12:00:00"));
    expect(afterEarning(first, at("13:00:00"))).toEqual(earned(2, "13:00:00"));
    const tomorrow = new Date("2026-03-02T00:00:00Z");
    expect(afterEarning(first, tomorrow)).toEqual({ day: "2026-03-02", earnedToday: 1, lastEarnedAt: tomorrow });
  });

  test("an earning never sets the count or the time back, unless a wrong clock dated them days ahead", () => {
    const before = new Date("2026-02-28T23:59:40Z");
    expect(afterEarning(earned(2, "00:00:10"), before)).toEqual(earned(3, "00:00:10"));
    const future = { day: "2026-03-11", earnedToday: 3, lastEarnedAt: new Date("2026-03-11T12:00:00Z") };
    expect(afterEarning(future, at("12:00:00"))).toEqual(earned(1, "12:00:00"));
  });
});
