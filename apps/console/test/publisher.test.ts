import type { EarningsMonth } from "@intermission/operator-api/publisher-money";
import { expect, test } from "vitest";
import { doneSteps } from "../src/publisher/checklist.ts";
import { payoutsOf } from "../src/publisher/payouts.ts";

const month = (name: string, earnedMicros: number, paidAt: string | null = null): EarningsMonth => ({
  month: name,
  earnedMicros,
  paidAt: paidAt === null ? null : new Date(paidAt),
  reference: paidAt === null ? null : "SEPA 1",
});
const now = new Date("2026-04-10T12:00:00Z");

test("the next payout pays every month that is over and unpaid, and not the running one", () => {
  const months = [
    month("2026-04", 900),
    month("2026-03", 50),
    month("2026-02", 20),
    month("2026-01", 7, "2026-02-03T10:00:00Z"),
    month("2025-12", 3, "2026-01-03T10:00:00Z"),
  ];
  expect(payoutsOf(months, now)).toEqual({
    last: { month: "2026-01", paidAt: new Date("2026-02-03T10:00:00Z"), reference: "SEPA 1" },
    next: { until: "2026-03", amountMicros: 70 },
  });
  expect(payoutsOf([month("2026-04", 900)], now)).toEqual({ last: undefined, next: undefined });
  expect(payoutsOf([], now)).toEqual({ last: undefined, next: undefined });
});

test("a checklist ticks each step by its own fact, and an earned event proves that an ad was requested", () => {
  const nothing = {
    endpointUrl: null,
    endpointState: null,
    adRequests: 0,
    hasEvent: false,
    hasDelivered: false,
  } as const;
  const none = { address: false, endpoint: false, request: false, earned: false, delivered: false };
  expect(doneSteps(nothing)).toEqual(none);
  const set = { ...nothing, endpointUrl: "https://bot.test/", endpointState: "disabled" as const };
  expect(doneSteps(set)).toEqual({ ...none, address: true });
  expect(doneSteps({ ...set, endpointState: "active" })).toEqual({ ...none, address: true, endpoint: true });
  // Statistics lag behind events.
  expect(doneSteps({ ...nothing, hasEvent: true })).toEqual({ ...none, request: true, earned: true });
});
