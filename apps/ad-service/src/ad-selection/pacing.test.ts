// @module-tag enlarged
import { describe, expect, test } from "vitest";
import { requestOf, seededRandom, stateOf } from "../../test/fixtures/selection-fixture.ts";
import { adsBehindPlan, type CampaignState, flatCurve, shareOfDay } from "./campaign-state.ts";
import { chooseAd, indexCampaigns } from "./choose-ad.ts";
import { openLocalTimes } from "./local-time.ts";

const DAY_MS = 86_400_000;
const midnight = new Date("2026-03-03T00:00:00Z");
const at = (hours: number) => new Date(midnight.getTime() + hours * 3_600_000);
const behind = (state: CampaignState, hours: number, curve = flatCurve) =>
  adsBehindPlan(state, "rewarded", { now: at(hours), curve });

describe("the plan of a day", () => {
  test("follows the expected traffic up to the tightest daily limit", () => {
    const campaign = { dailyViewCap: 2400, dailyBudgetMicros: 1_200_000, viewPriceMicros: 1000 };
    expect(behind(stateOf("a", campaign), 6)).toBeCloseTo(300);
    expect(behind(stateOf("a", campaign, { views: 400, spentMicros: 400_000 }), 6)).toBeCloseTo(-100);
    const busyEvening = flatCurve.map((_share, hour) => (hour < 12 ? 0.25 : 0.75) / 12);
    expect(behind(stateOf("a", campaign), 12, busyEvening)).toBeCloseTo(300);
    expect(shareOfDay(busyEvening, DAY_MS)).toBeCloseTo(1);
  });

  test("is the even share of a total limit for each remaining day", () => {
    const endsAt = at(4 * 24);
    const week = stateOf(
      "a",
      { totalViewCap: 1000, endsAt },
      { views: 50 },
      { earlier: { views: 200, clicks: 0, spentMicros: 0 } },
    );
    // 800 are left at midnight for four days: 200 today, half of them by noon.
    expect(behind(week, 12)).toBeCloseTo(50);
    expect(behind(stateOf("a", { totalViewCap: 1000 }), 12)).toBeUndefined();
  });

  test("starts and ends with the campaign", () => {
    const evening = { dailyViewCap: 600, startsAt: at(12), endsAt: at(18) };
    expect(behind(stateOf("a", evening), 12)).toBe(0);
    expect(behind(stateOf("a", evening), 15)).toBeCloseTo(300);
    expect(behind(stateOf("a", evening), 17.99)).toBeCloseTo(599, 0);
  });

  test("does not exist with asap pacing", () => {
    expect(behind(stateOf("a", { dailyViewCap: 600, pacing: "asap" }), 12)).toBeUndefined();
  });
});

const most = process.env.LONG_TESTS === "true" ? 1_000_000 : 250_000;

test(`a day of ${most} requests with peaks: each campaign ends within 2 % of its plan, none exceeds a limit`, {
  tags: "long",
  timeout: 60_000,
}, () => {
  const random = seededRandom(20_260_303);
  // Quiet nights, a peak at noon and a higher one in the evening. The nodes expect last week's traffic, which is a little off.
  const traffic = flatCurve.map((_share, hour) => 1 + 6 * bump(hour, 12, 2) + 12 * bump(hour, 20, 1.5));
  const expected = normal(traffic.map((share, hour) => share * (hour % 2 === 0 ? 1.15 : 0.87)));
  const curve = normal(traffic);
  const of = (plan: number) => (plan * most) / 1_000_000;
  const plans: [name: string, plan: number, settings: Parameters<typeof stateOf>[1]][] = [
    ["sponsor", of(20_000), { priority: "sponsorship", dailyViewCap: of(20_000) }],
    ["large", of(300_000), { dailyViewCap: of(300_000) }],
    ["small", of(500), { dailyViewCap: of(500) }],
    ["heavy", of(60_000), { dailyViewCap: of(60_000), weight: 1000 }],
    ["money", of(100_000), { dailyBudgetMicros: of(250_000_000), viewPriceMicros: 2500 }],
    ["german", of(90_000), { dailyViewCap: of(90_000), targeting: { languages: ["de"] } }],
    ["android", of(80_000), { dailyViewCap: of(80_000), targeting: { platforms: ["android"] } }],
    ["total", of(40_000), { totalViewCap: of(40_000) * 10, endsAt: at(240) }],
    ["fast", of(50_000), { dailyViewCap: of(50_000), pacing: "asap" }],
  ];
  const states = [
    ...plans.map(([name, , settings]) => stateOf(name, settings)),
    stateOf("house", { priority: "house" }),
  ];
  const languages = ["en", "de", "ru", "es"];
  const platforms = ["android", "ios", "desktop"] as const;
  let now = midnight;
  const localTimes = openLocalTimes();
  let index = indexCampaigns(states, { now, curve: expected, localTimes });
  let refreshedAt = now.getTime();
  let unfilled = 0;
  const flying: { state: CampaignState; lands: number }[] = [];
  const hourly = curve.map((share) => Math.round(share * most));
  for (const [hour, requests] of hourly.entries()) {
    for (let request = 0; request < requests; request++) {
      now = new Date(midnight.getTime() + (hour + request / requests) * 3_600_000);
      while ((flying[0]?.lands ?? Number.POSITIVE_INFINITY) <= now.getTime()) land(flying.shift());
      if (now.getTime() - refreshedAt > 2000) {
        index = indexCampaigns(states, { now, curve: expected, localTimes });
        refreshedAt = now.getTime();
      }
      const user = {
        language: languages[Math.floor(random() * 4)],
        platform: platforms[Math.floor(random() * 3)],
        isPremium: random() < 0.1,
      };
      const choice = chooseAd(index, requestOf(user), { now, random });
      if (choice.outcome === "no-ad") unfilled += 1;
      else {
        choice.state.viewsInFlight += 1;
        flying.push({ state: choice.state, lands: now.getTime() + 20_000 });
      }
    }
  }
  for (const flight of flying) land(flight);

  // One view in ten is abandoned before its end and earns nothing.
  function land(flight: (typeof flying)[number] | undefined): void {
    if (!flight) return;
    const { state } = flight;
    state.viewsInFlight -= 1;
    if (random() < 0.1) return;
    state.today.views += 1;
    state.today.spentMicros += state.campaign.viewPriceMicros;
  }

  expect(unfilled).toBe(0);
  for (const [name, plan] of plans) {
    const views = states.find(({ campaign }) => campaign.campaignId === name)?.today.views ?? 0;
    expect(views, name).toBeLessThanOrEqual(plan);
    expect(views, name).toBeGreaterThanOrEqual(plan * 0.98);
  }
});

function bump(hour: number, middle: number, width: number): number {
  return Math.exp(-((hour - middle) ** 2) / (2 * width ** 2));
}

function normal(shares: number[]): number[] {
  const sum = shares.reduce((all, share) => all + share, 0);
  return shares.map((share) => share / sum);
}
