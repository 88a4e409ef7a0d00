import type { UnavailableReason } from "@intermission/ad-core/client-api";
import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { expect, test } from "vitest";
import { limitOfViewer } from "../viewers/limit-of-viewer.ts";
import { type AvailabilityFacts, hindranceOf } from "./describe-availability.ts";

const now = new Date("2026-03-01T12:00:00Z");
const instant = fc.integer({ min: -90_000, max: 90_000 }).map((second) => new Date(now.getTime() + second * 1000));
const anyFacts: fc.Arbitrary<AvailabilityFacts> = fc.record({
  isSuspended: fc.boolean(),
  day: fc.option(fc.constantFrom("2026-02-28", "2026-03-01")),
  earnedToday: fc.integer({ min: 0, max: 4 }),
  lastEarnedAt: fc.option(instant),
  lastInterstitialAt: fc.option(instant),
  interstitialSeconds: fc.constantFrom(0, 60, 3600),
  cooldownSeconds: fc.constantFrom(0, 60, 3600),
  dailyCap: fc.integer({ min: 1, max: 4 }),
  unfinished: fc.record({
    count: fc.nat({ max: 2 }),
    lastActiveAt: fc.option(instant),
    // Views whose deadline has passed are not read.
    firstDeadline: fc.option(fc.integer({ min: 1, max: 900 }).map((second) => new Date(now.getTime() + second * 1000))),
  }),
});

test("nothing is in the way of a viewer of a running bot who is free to earn, and only a limit says until when", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const hindrance = hindranceOf(facts, now);
      const limit = limitOfViewer(facts, facts.unfinished, facts, now);
      const mayEarn = !facts.isSuspended && limit.outcome === "free";
      expect(hindrance === undefined).toBe(mayEarn);
      seen.add(hindrance?.reason ?? "none");
      if (!hindrance) return;
      const hasWait = hindrance.reason === "cooldown" || hindrance.reason === "daily-cap";
      expect(hindrance.availableAt !== undefined).toBe(hasWait);
      if (hindrance.availableAt) expect(hindrance.availableAt.getTime()).toBeGreaterThan(now.getTime());
    }),
    { numRuns: runsToReachAll(1000) },
  );
  const reasons = {
    "bot-suspended": true,
    cooldown: true,
    "daily-cap": true,
  } satisfies Record<Exclude<UnavailableReason, "no-ad">, true>;
  expect([...seen].toSorted()).toEqual(["none", ...Object.keys(reasons)].toSorted());
});
