import { expect, test } from "vitest";
import type { StoredState } from "../views/ad-view.ts";
import { decideRefund, decideRefusal, decideRelease, untilUnchanged } from "./decide-review.ts";

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

test("what has changed meanwhile is decided again, five times at most", async () => {
  let tries = 0;
  expect(await untilUnchanged(async () => (++tries < 3 ? "changed" : tries))).toBe(3);
  await expect(untilUnchanged(async () => "changed")).rejects.toThrow("has changed 5 times");
});
