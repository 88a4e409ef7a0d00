import type { StatusResponse } from "@intermission/ad-core/player-api";
import { expect, test } from "vitest";
import { describeNextAd } from "./next-ad.ts";

const now = 1_900_000_000_000;

function describe(nextAd: StatusResponse["next_ad"]) {
  const body: StatusResponse = {
    state: "rewarded",
    accepted_ms: 0,
    server_time: "2030-01-01T00:00:00Z",
    ...(nextAd && { next_ad: nextAd }),
  };
  return describeNextAd({ outcome: "answered", body }, now);
}

test("an available ad is offered, and the service is not asked again", () => {
  const media = { url: "https://ads.example/media/ab.mp4" };
  expect(describe({ available: true, today: { earned: 1, daily_cap: 5 }, media })).toEqual({
    nextAd: { when: "now", ofToday: { number: 2, cap: 5 }, media },
    askAgainMs: false,
  });
});

test("an older service does not count the day's ads, and a large cap is not counted", () => {
  for (const today of [undefined, { earned: 1, daily_cap: 10_000 }]) {
    expect(describe({ available: true, ...(today && { today }) })).toEqual({
      nextAd: { when: "now" },
      askAgainMs: false,
    });
  }
});

test("the end of a daily cap is told apart from a cooldown's", () => {
  const { nextAd } = describe({ available: false, reason: "daily-cap", available_at: "2030-01-02T00:00:00Z" });
  expect(nextAd).toEqual({ when: "later", untilMs: now + 86_400_000, isDayOver: true });
});

test("a limit's end is counted by the service's clock, and the service is asked again then", () => {
  expect(describe({ available: false, reason: "cooldown", available_at: "2030-01-01T00:00:14Z" })).toEqual({
    nextAd: { when: "later", untilMs: now + 14_000, isDayOver: false },
    askAgainMs: 14_000,
  });
});

test("a moment that has just passed does not cause a tight loop", () => {
  const { askAgainMs } = describe({ available: false, reason: "cooldown", available_at: "2029-12-31T23:59:59Z" });
  expect(askAgainMs).toBe(1000);
});

test("without an ad nothing is offered, and the service is asked once a minute", () => {
  expect(describe({ available: false, reason: "no-ad" })).toEqual({ askAgainMs: 60_000 });
});

test("an older service and a superseded session offer nothing", () => {
  expect(describe(undefined)).toEqual({ askAgainMs: false });
  expect(describeNextAd({ outcome: "refused", code: "SUPERSEDED", requestId: null }, now)).toEqual({
    askAgainMs: false,
  });
});
