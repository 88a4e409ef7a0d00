import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { limitOfViewer } from "./limit-of-viewer.ts";

interface Asked {
  day?: string;
  earnedToday?: number;
  lastEarnedAt?: Date;
  cooldownSeconds?: number;
  dailyCap?: number;
  unfinished?: number;
  lastActiveAt?: Date;
  firstDeadline?: Date;
}

const ask = statement<{ reason: string | null; availableAt: Date | null }>(
  "test.limit-of-viewer",
  `select (asked).reason, (asked).available_at as "availableAt"
   from (select limit_of_viewer($1, $2, $3, $4, $5, $6, $7, $8, $9) as asked offset 0) as asked`,
);
const explain = statement<{ "QUERY PLAN": string }>(
  "test.limit-of-viewer-plan",
  `explain (verbose) select (limit_of_viewer(day, earned_today, last_earned_at, 60, 3, 0, null, null, now())).reason
   from viewers where bot_id = '1' and user_id = '2'`,
);

const at = (time: string) => new Date(`2026-03-01T${time}Z`);
const earned = (count: number, time: string) => ({ day: "2026-03-01", earnedToday: count, lastEarnedAt: at(time) });

describe("when a viewer may earn", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  async function limit(asked: Asked, now: Date) {
    const { cooldownSeconds = 60, dailyCap = 3, unfinished = 0 } = asked;
    const [row] = await store.database.run(ask, [
      ...[asked.day, asked.earnedToday, asked.lastEarnedAt, cooldownSeconds, dailyCap],
      ...[unfinished, asked.lastActiveAt, asked.firstDeadline, now],
    ]);
    return row;
  }
  const free = { reason: null, availableAt: null };

  test("a viewer who never earned is free", async () => {
    expect(await limit({}, at("12:00:00"))).toEqual(free);
  });

  test("a cooldown of a minute ends to the millisecond", async () => {
    const asked = earned(1, "12:00:00");
    expect(await limit(asked, at("12:00:59.999"))).toEqual({ reason: "cooldown", availableAt: at("12:01:00") });
    expect(await limit(asked, at("12:01:00.000"))).toEqual(free);
  });

  test("without a cooldown, a time that another node's clock dated ahead does not delay the viewer", async () => {
    expect(await limit({ ...earned(1, "12:00:10"), cooldownSeconds: 0 }, at("12:00:00"))).toEqual(free);
  });

  test("the cap counts one UTC day", async () => {
    const viewer = earned(3, "12:00:00");
    const tomorrow = new Date("2026-03-02T00:00:00Z");
    expect(await limit(viewer, at("13:00:00"))).toEqual({ reason: "daily-cap", availableAt: tomorrow });
    expect(await limit(viewer, tomorrow)).toEqual(free);
  });

  test("a viewer capped just before midnight waits for the cooldown as well", async () => {
    const availableAt = new Date("2026-03-02T00:00:30Z");
    expect(await limit(earned(3, "23:59:30"), at("23:59:40"))).toEqual({ reason: "daily-cap", availableAt });
  });

  test("a clock that steps back over midnight does not start the day again", async () => {
    const [viewer, before] = [earned(3, "00:00:10"), new Date("2026-02-28T23:59:00Z")];
    expect(await limit(viewer, before)).toMatchObject({ reason: "daily-cap" });
    expect(await limit({ ...viewer, cooldownSeconds: 0 }, before)).toMatchObject({ reason: "daily-cap" });
  });

  test("a reward, a day or a view that a wrong clock dated days ahead locks nobody out", async () => {
    const viewer = { day: "2026-03-11", earnedToday: 3, lastEarnedAt: new Date("2026-03-11T12:00:00Z") };
    expect(await limit(viewer, at("12:00:00"))).toEqual(free);
    const elsewhere = { lastActiveAt: new Date("2026-03-11T12:00:00Z") };
    expect(await limit(elsewhere, at("12:00:00"))).toEqual(free);
    const [just, availableAt] = [{ ...earned(1, "12:00:30") }, at("12:01:30")];
    expect(await limit(just, at("12:00:00"))).toEqual({ reason: "cooldown", availableAt });
  });

  test("a view in progress counts as if it had earned, until its deadline", async () => {
    const unfinished = { unfinished: 1, lastActiveAt: at("11:00:00"), firstDeadline: at("12:10:00") };
    expect(await limit({ ...earned(2, "11:00:00"), ...unfinished }, at("12:00:00"))).toEqual({
      reason: "daily-cap",
      availableAt: at("12:10:00"),
    });
    expect(await limit({ ...earned(1, "11:00:00"), ...unfinished }, at("12:00:00"))).toEqual(free);
    expect(await limit({ ...earned(1, "11:00:00"), ...unfinished }, at("11:00:30"))).toEqual({
      reason: "cooldown",
      availableAt: at("11:01:00"),
    });
  });

  test("the end of a view in progress does not free a cap that is used up", async () => {
    const unfinished = { unfinished: 1, lastActiveAt: at("11:00:00"), firstDeadline: at("12:10:00") };
    const availableAt = new Date("2026-03-02T00:00:00Z");
    expect(await limit({ ...earned(3, "11:00:00"), ...unfinished }, at("12:00:00"))).toEqual({
      reason: "daily-cap",
      availableAt,
    });
  });

  test("the function of clicks and the SQL of views give the same answer about any viewer", async () => {
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
    const unfinished = fc.record({
      count: fc.integer({ min: 0, max: 3 }),
      lastActiveAt: maybe(moment),
      firstDeadline: maybe(moment),
    });
    const settings = fc.record({
      cooldownSeconds: fc.constantFrom(0, 60, 3600, 100_000),
      dailyCap: fc.integer({ min: 1, max: 4 }),
    });
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(viewer, unfinished, settings, async (of, views, { cooldownSeconds, dailyCap }) => {
        const now = new Date("2026-03-01T00:00:30Z");
        const [row] = await store.database.run(ask, [
          ...[of.day, of.earnedToday, of.lastEarnedAt, cooldownSeconds, dailyCap],
          ...[views.count, views.lastActiveAt, views.firstDeadline, now],
        ]);
        const limit = limitOfViewer(of, views, { cooldownSeconds, dailyCap }, now);
        seen.add(limit.outcome === "limited" ? limit.reason : limit.outcome);
        expect(limit.outcome === "limited" ? { reason: limit.reason, availableAt: limit.availableAt } : free).toEqual(
          row,
        );
      }),
      { numRuns: 300 },
    );
    expect([...seen].toSorted()).toEqual(["cooldown", "daily-cap", "free"]);
  });

  test("the planner inlines the rule into the calling statement: no function call remains", async () => {
    const plan = (await store.database.run(explain, [])).map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toContain("daily-cap");
    expect(plan).not.toContain("limit_of_viewer");
    expect(plan).not.toContain("available_at");
    expect(plan).not.toContain("cooldown_end");
    expect(plan).not.toContain("plausible");
  });
});
