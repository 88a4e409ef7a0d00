import type { UnavailableReason } from "@intermission/ad-core/client-api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { limitOfViewer } from "../ad-selection/limit-of-viewer.ts";
import { type AvailabilityFacts, judgeAvailability } from "./describe-availability.ts";

const now = new Date("2026-03-01T12:00:00Z");
const instant = fc.integer({ min: -90_000, max: 90_000 }).map((second) => new Date(now.getTime() + second * 1000));
const anyFacts: fc.Arbitrary<AvailabilityFacts> = fc.record({
  isSuspended: fc.boolean(),
  hasAd: fc.boolean(),
  day: fc.option(fc.constantFrom("2026-02-28", "2026-03-01")),
  earnedToday: fc.integer({ min: 0, max: 4 }),
  lastEarnedAt: fc.option(instant),
  cooldownSeconds: fc.constantFrom(0, 60, 3600),
  dailyCap: fc.integer({ min: 1, max: 4 }),
  unfinished: fc.record({
    count: fc.nat({ max: 2 }),
    lastActiveAt: fc.option(instant),
    // Views whose deadline has passed are not read.
    firstDeadline: fc.option(fc.integer({ min: 1, max: 900 }).map((second) => new Date(now.getTime() + second * 1000))),
  }),
});

test("an ad is available only to a viewer of a running bot who is free to earn, and only a limit says until when", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const availability = judgeAvailability(facts, now);
      const limit = limitOfViewer(facts, facts.unfinished, facts, now);
      const mayEarn = !facts.isSuspended && limit.outcome === "free" && facts.hasAd;
      expect(availability.outcome).toBe(mayEarn ? "available" : "unavailable");
      seen.add(availability.outcome === "unavailable" ? availability.reason : availability.outcome);
      if (availability.outcome === "available") return;
      const hasWait = availability.reason === "cooldown" || availability.reason === "daily-cap";
      expect(availability.availableAt !== undefined).toBe(hasWait);
      if (availability.availableAt) expect(availability.availableAt.getTime()).toBeGreaterThan(now.getTime());
    }),
    { numRuns: 1000, seed: 31 },
  );
  const reasons = {
    "bot-suspended": true,
    cooldown: true,
    "daily-cap": true,
    "no-ad": true,
  } satisfies Record<UnavailableReason, true>;
  expect([...seen].toSorted()).toEqual(["available", ...Object.keys(reasons)].toSorted());
});
