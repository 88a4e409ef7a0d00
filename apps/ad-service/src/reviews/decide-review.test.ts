import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredState } from "../views/ad-view.ts";
import {
  decideRefund,
  decideRefusal,
  decideRelease,
  type RefundDecision,
  type RefusalDecision,
  type ReleaseDecision,
  untilUnchanged,
} from "./decide-review.ts";

const states = {
  opened: false,
  playing: false,
  watched: false,
  rewarded: false,
  held: true,
  refused: false,
} satisfies Record<StoredState, boolean>;
const terms = { priceMicros: 1500, sharePercent: 70, currency: "USD", includeRevenue: true };
const cases = Object.entries(states).flatMap(([state, isHeld]) =>
  [false, true].map((isTest) => ({ facts: { ...terms, state, isTest, charge: null }, isHeld })),
);

test.each(cases)("only what is held is released or refused: $facts", ({ facts, isHeld }) => {
  const { state, isTest } = facts;
  const notHeld = { outcome: "not-held", state };
  const [priceMicros, revenueMicros] = isTest ? [null, null] : [1500, 1050];
  const worth = { priceMicros, revenueMicros, fields: { revenue_micros: revenueMicros ?? 0, currency: "USD" } };
  expect(decideRelease(facts)).toEqual(isHeld ? { outcome: "release", worth } : notHeld);
  expect(decideRefusal(facts)).toEqual(isHeld ? { outcome: "refuse" } : notHeld);
});

test("a charge is refunded once, and what was not charged has none", () => {
  expect(decideRefund({ charge: null })).toEqual({ outcome: "not-charged" });
  expect(decideRefund({ charge: { eventId: "evt_1", isRefunded: false } })).toEqual({
    outcome: "refund",
    eventId: "evt_1",
  });
  expect(decideRefund({ charge: { eventId: "evt_1", isRefunded: true } })).toEqual({ outcome: "refunded-before" });
});

test("any facts are decided so that only a held one earns or ends, only a charge is refunded, and every decision is reached", () => {
  const anyFacts = fc.record({
    state: fc.constantFrom(...(Object.keys(states) as StoredState[])),
    isTest: fc.boolean(),
    priceMicros: fc.nat({ max: 10_000_000 }),
    sharePercent: fc.integer({ min: 0, max: 100 }),
    currency: fc.constant("USD"),
    includeRevenue: fc.boolean(),
    charge: fc.option(fc.record({ eventId: fc.constant("evt_1"), isRefunded: fc.boolean() })),
  });
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyFacts, (facts) => {
      const [release, refusal, refund] = [decideRelease(facts), decideRefusal(facts), decideRefund(facts)];
      for (const { outcome } of [release, refusal, refund]) seen.add(outcome);
      expect(release.outcome === "release").toBe(facts.state === "held");
      expect(refusal.outcome === "refuse").toBe(facts.state === "held");
      if (release.outcome === "release") {
        const { priceMicros, revenueMicros } = release.worth;
        expect(priceMicros).toBe(facts.isTest ? null : facts.priceMicros);
        expect(revenueMicros ?? 0).toBeLessThanOrEqual(priceMicros ?? 0);
      }
      expect(refund.outcome === "refund").toBe(facts.charge !== null && !facts.charge.isRefunded);
    }),
    { numRuns: runsToReachAll(500) },
  );
  const outcomes = {
    release: true,
    refuse: true,
    refund: true,
    "not-held": true,
    "not-charged": true,
    "refunded-before": true,
  } satisfies Record<(ReleaseDecision<string> | RefusalDecision<string> | RefundDecision)["outcome"], true>;
  expect([...seen].toSorted()).toEqual(Object.keys(outcomes).toSorted());
});

test("what has changed meanwhile is decided again, five times at most", async () => {
  let tries = 0;
  expect(await untilUnchanged(async () => (++tries < 3 ? "changed" : tries))).toBe(3);
  await expect(untilUnchanged(async () => "changed")).rejects.toThrow("has changed 5 times");
});
