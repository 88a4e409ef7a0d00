import type { Platform } from "@intermission/operator-api/campaign-words";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { botOfTest, requestOf, seededRandom, stateOf } from "../../test/fixtures/selection-fixture.ts";
import { flatCurve } from "./campaign-state.ts";
import { chooseAd, drawByWeight, indexCampaigns } from "./choose-ad.ts";
import { type AdRequest, exclusionReason } from "./eligibility.ts";
import { explainChoice } from "./explain-choice.ts";
import { openLocalTimes } from "./local-time.ts";

const now = new Date("2026-03-03T12:00:00Z");
const moment = { now, curve: flatCurve, localTimes: openLocalTimes() };

function chosenOf(states: ReturnType<typeof stateOf>[], request: AdRequest, draws = 4000) {
  const index = indexCampaigns(states, moment);
  const random = seededRandom(7);
  const counts = new Map<string, number>();
  for (let draw = 0; draw < draws; draw++) {
    const choice = chooseAd(index, request, { now, random });
    const name = choice.outcome === "chosen" ? choice.state.campaign.campaignId : choice.reason;
    counts.set(name, (counts.get(name) ?? 0) + 1 / draws);
  }
  return Object.fromEntries([...counts].map(([name, share]) => [name, Math.round(share * 20) / 20]));
}

describe("the chosen campaign", () => {
  test("campaigns are chosen in proportion to their weights", () => {
    const states = [stateOf("a", { weight: 1 }), stateOf("b", { weight: 3 }), stateOf("c", { weight: 6 })];
    expect(chosenOf(states, requestOf())).toEqual({ a: 0.1, b: 0.3, c: 0.6 });
  });

  test("sponsorship goes before standard, and standard before house, regardless of weights", () => {
    const sponsor = stateOf("sponsor", { priority: "sponsorship" });
    const standard = stateOf("standard", { weight: 1000 });
    const house = stateOf("house", { priority: "house", weight: 1_000_000 });
    expect(chosenOf([house, standard, sponsor], requestOf())).toEqual({ sponsor: 1 });
    expect(chosenOf([house, standard], requestOf())).toEqual({ standard: 1 });
    expect(chosenOf([house], requestOf())).toEqual({ house: 1 });
  });

  test("campaigns behind plan go before those without one, in proportion to their lag; one ahead of its plan waits", () => {
    const planned = { dailyViewCap: 1000 };
    const far = stateOf("far", planned, { views: 200 });
    const near = stateOf("near", planned, { views: 400 });
    const overPlan = stateOf("over-plan", planned, { views: 501 });
    const free = stateOf("free", { weight: 1000 });
    expect(chosenOf([far, near, overPlan, free], requestOf())).toEqual({ far: 0.75, near: 0.25 });
    expect(chosenOf([overPlan, free], requestOf())).toEqual({ free: 1 });
    expect(chosenOf([overPlan], requestOf())).toEqual({ "none-fits": 1 });
  });

  test("a campaign with asap pacing runs until its cap", () => {
    const fast = { dailyViewCap: 1000, pacing: "asap" as const };
    expect(chosenOf([stateOf("fast", fast, { views: 999 })], requestOf())).toEqual({ fast: 1 });
    expect(chosenOf([stateOf("full", fast, { views: 1000 })], requestOf())).toEqual({ "none-fits": 1 });
  });

  test("the reason distinguishes no running campaign from no fitting campaign", () => {
    expect(chosenOf([], requestOf())).toEqual({ "no-campaign": 1 });
    expect(chosenOf([stateOf("link", { formats: ["direct_link"] })], requestOf())).toEqual({ "no-campaign": 1 });
    expect(chosenOf([stateOf("de", { targeting: { languages: ["de"] } })], requestOf())).toEqual({ "none-fits": 1 });
  });

  test("creatives are chosen in proportion to their weights; detached and unapproved ones never", () => {
    const creatives = [
      { creativeId: "cre_1", weight: 1, isActive: true },
      { creativeId: "cre_2", weight: 3, isActive: true },
      { creativeId: "cre_3", weight: 9, isActive: false },
      { creativeId: "cre_4", weight: 9, isActive: true, isApproved: false },
    ].map((creative) => ({ isApproved: true, ...creative, label: null, callToAction: null }));
    const index = indexCampaigns([stateOf("a", { creatives })], moment);
    const random = seededRandom(3);
    const shown = Array.from({ length: 2000 }, () => {
      const choice = chooseAd(index, requestOf(), { now, random });
      return choice.outcome === "chosen" ? choice.creative?.creativeId : undefined;
    });
    expect(shown.filter((id) => id === "cre_2").length / 2000).toBeCloseTo(0.75, 1);
    expect(shown).not.toContain("cre_3");
  });
});

describe("the exclusion reason of a campaign", () => {
  const user = { language: "de", platform: "android" as const, isPremium: true };
  test.each([
    ["other-format", { formats: ["direct_link" as const] }],
    ["no-video", { creatives: [] }],
    ["not-started", { startsAt: new Date(now.getTime() + 1) }],
    ["ended", { endsAt: now }],
    ["blocked-category", { category: "casino" }],
    ["blocked-advertiser", { advertiser: "Rival" }],
    ["other-bot", { targeting: { bots: ["42"] } }],
    ["excluded-bot", { targeting: { excludedBots: [botOfTest.botId] } }],
    ["other-bot-category", { targeting: { botCategories: ["news"] } }],
    ["excluded-bot-category", { targeting: { excludedBotCategories: ["games"] } }],
    ["other-language", { targeting: { languages: ["en", "fr"] } }],
    ["other-platform", { targeting: { platforms: ["ios" as const] } }],
    ["other-premium", { targeting: { premium: false } }],
    // Noon in UTC is 13:00 in Berlin; the day is a Tuesday.
    ["other-hour", { targeting: { hours: [12] } }],
    ["other-weekday", { targeting: { weekdays: [3] } }],
    [
      undefined,
      { targeting: { hours: [13], weekdays: [2], languages: ["de"], premium: true, botCategories: ["games"] } },
    ],
  ])("%s", (reason, settings) => {
    expect(exclusionReason(stateOf("a", settings), { ...requestOf(), user }, moment)).toBe(reason);
  });

  // Of a bot in Berlin, an hour ahead of UTC. 2026-03-06 is a Friday.
  test.each([
    ["2026-03-06T20:59:00Z", "other-hour", "other-weekday"],
    ["2026-03-06T21:00:00Z", undefined, "other-weekday"],
    ["2026-03-06T23:30:00Z", undefined, undefined],
    ["2026-03-07T05:59:59Z", undefined, undefined],
    ["2026-03-07T06:00:00Z", "other-hour", undefined],
    ["2026-03-08T23:30:00Z", undefined, undefined],
    ["2026-03-09T22:59:00Z", undefined, undefined],
    ["2026-03-09T23:00:00Z", undefined, "other-weekday"],
  ])(
    "hours over midnight and weekdays over the end of the week are the bot's local ones: %s",
    (at, ofHours, ofDays) => {
      const excluded = (targeting: { hours?: number[]; weekdays?: number[] }) =>
        explainChoice(indexCampaigns([stateOf("a", { targeting })], moment), requestOf(), new Date(at))[0]
          ?.exclusionReason;
      expect(excluded({ hours: [22, 23, 0, 1, 2, 3, 4, 5, 6] })).toBe(ofHours);
      expect(excluded({ weekdays: [6, 7, 1] })).toBe(ofDays);
    },
  );

  test.each([
    ["total-budget", { totalBudgetMicros: 10_000, viewPriceMicros: 2000 }, { views: 3, spentMicros: 6000 }, 1],
    ["daily-budget", { dailyBudgetMicros: 6999, viewPriceMicros: 2000 }, { views: 3, spentMicros: 6000 }, 0],
    ["total-view-cap", { totalViewCap: 10 }, { views: 2 }, 0],
    ["daily-view-cap", { dailyViewCap: 3 }, { views: 2 }, 1],
  ] as const)("%s: views in flight count against the limit", (limit, settings, today, viewsInFlight) => {
    const earlier = limit.startsWith("total") ? { views: 8, clicks: 0, spentMicros: 2000 } : undefined;
    const state = stateOf("a", { ...settings, pacing: "asap" }, today, { viewsInFlight, ...(earlier && { earlier }) });
    expect(exclusionReason(state, requestOf(), moment)).toBe(limit);
  });

  test("ads seen within the period count against the user cap, older ones do not", () => {
    const capped = stateOf("a", { userCap: 2, userCapSeconds: 3600 });
    const seen = (minutes: number[]) => new Map([["a", minutes.map((ago) => new Date(now.getTime() - ago * 60_000))]]);
    expect(exclusionReason(capped, { ...requestOf(), seen: seen([10, 59]) }, moment)).toBe("user-cap");
    expect(exclusionReason(capped, { ...requestOf(), seen: seen([10, 61]) }, moment)).toBeUndefined();
  });

  test("an explanation lists every campaign, with the likelihoods that the choice uses", () => {
    const states = [stateOf("a", { weight: 1 }), stateOf("b", { weight: 3 }), stateOf("c", { category: "casino" })];
    const verdicts = explainChoice(indexCampaigns(states, moment), requestOf(), now);
    expect(
      verdicts.map(({ campaignId, exclusionReason: found, likelihood }) => [campaignId, found, likelihood]),
    ).toEqual([
      ["b", undefined, 0.75],
      ["a", undefined, 0.25],
      ["c", "blocked-category", 0],
    ]);
  });
});

test("for any campaigns and any request: the chosen campaign fits, and no ad is returned only if none fits", () => {
  const targeting = fc.record(
    {
      languages: fc.constantFrom<string[]>(["de"], ["en", "fr"]),
      platforms: fc.constantFrom<Platform[]>(["android"], ["ios", "web"]),
      bots: fc.constantFrom<string[]>([botOfTest.botId], ["42"]),
      premium: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const settings = fc.record({
    targeting,
    priority: fc.constantFrom("sponsorship" as const, "standard" as const, "house" as const),
    weight: fc.integer({ min: 1, max: 1000 }),
    dailyViewCap: fc.constantFrom(null, 10, 1000),
  });
  const states = fc.array(fc.tuple(settings, fc.integer({ min: 0, max: 1000 })), { maxLength: 40 });
  const user = fc.record({
    language: fc.constantFrom("de", "en", undefined),
    platform: fc.constantFrom("android" as const, "ios" as const, undefined),
    isPremium: fc.boolean(),
  });
  fc.assert(
    fc.property(states, user, fc.integer(), (some, who, seed) => {
      const all = some.map(([one, views], number) => stateOf(`c${number}`, one, { views }));
      const request = { ...requestOf(), user: who };
      const choice = chooseAd(indexCampaigns(all, moment), request, { now, random: seededRandom(seed) });
      const fitting = all.filter((state) => exclusionReason(state, request, moment) === undefined);
      if (choice.outcome === "chosen") expect(fitting).toContain(choice.state);
      else expect(fitting).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("a weighted draw from an empty list returns undefined", () => {
  expect(drawByWeight([], () => 0.5)).toBeUndefined();
});
