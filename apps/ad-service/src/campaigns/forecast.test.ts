import { campaignPriorities } from "@intermission/operator-api/campaign-words";
import { defaultSettings, type Targeting } from "@intermission/operator-api/campaigns";
import { openTestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { migrations } from "../migrations.ts";
import { addCampaign } from "./change-campaign.ts";
import { type ForecastFacts, forecast, readForecastFacts } from "./forecast.ts";

const settings = { ...defaultSettings, viewPriceMicros: 2000 };
/** A week in which 700 requests a week were filled by standard campaigns, 70 by house ads, and 140 by none. */
const week: ForecastFacts = {
  days: 7,
  requests: [
    { priority: "standard", fills: 700, unfilled: 0, rewards: 560 },
    { priority: "house", fills: 70, unfilled: 0, rewards: 56 },
    { priority: null, fills: 0, unfilled: 140, rewards: 0 },
  ],
  overall: { fills: 1000, rewards: 500 },
  competingWeight: 3,
};

describe("what a campaign may expect", () => {
  test("what nobody filled, what a later priority had, and its weight's part of its own, as often as it is watched to the end", () => {
    // A quarter of 100, all of 10 and of 20; of which 80 % are watched to the end.
    expect(forecast(settings, week)).toEqual({
      days: 7,
      requestsPerDay: 130,
      unfilledPerDay: 20,
      viewsPerDay: 44,
      limitedBy: "traffic",
      spendPerDayMicros: 88_000,
      daysOfBudget: null,
    });
    expect(forecast({ ...settings, priority: "sponsorship" }, week).viewsPerDay).toBe(104);
    // Beside other house ads it has no standard campaign's requests.
    expect(forecast({ ...settings, priority: "house" }, week).viewsPerDay).toBe(18);
  });

  test("the least limit of a day holds, and the total lasts for as long as it does at this rate", () => {
    const limited = { ...settings, dailyBudgetMicros: 40_000, totalBudgetMicros: 100_000 };
    expect(forecast(limited, week)).toMatchObject({ viewsPerDay: 20, limitedBy: "daily-budget", daysOfBudget: 2.5 });
    expect(forecast({ ...limited, dailyViewCap: 5, totalViewCap: 20 }, week)).toMatchObject({
      viewsPerDay: 5,
      limitedBy: "daily-views",
      daysOfBudget: 4,
    });
    // A free campaign has no use for a budget.
    expect(forecast({ ...limited, viewPriceMicros: 0 }, week)).toMatchObject({
      limitedBy: "traffic",
      daysOfBudget: null,
    });
  });

  test("few views at the targets say little of how many are watched to the end: those of all users do", () => {
    const few: ForecastFacts["requests"] = [{ priority: "house", fills: 14, unfilled: 14, rewards: 0 }];
    expect(forecast(settings, { ...week, requests: few }).viewsPerDay).toBe(2);
  });

  test("without traffic there is none, and nothing is divided by it", () => {
    const nothing = { days: 0, requests: [], overall: { fills: 0, rewards: 0 }, competingWeight: 0 };
    expect(forecast({ ...settings, totalBudgetMicros: 1 }, nothing)).toMatchObject({
      days: 0,
      viewsPerDay: 0,
      daysOfBudget: null,
    });
  });

  test("never more views than requests, and a heavier campaign never expects fewer", () => {
    const count = fc.nat(1_000_000);
    const row = fc.record({
      priority: fc.constantFrom(...campaignPriorities, null),
      fills: count,
      unfilled: count,
      rewards: count,
    });
    const facts = fc.record({
      days: fc.integer({ min: 1, max: 7 }),
      requests: fc.array(row, { maxLength: 4 }),
      overall: fc.record({ fills: count, rewards: count }),
      competingWeight: count,
    });
    fc.assert(
      fc.property(facts, fc.integer({ min: 1, max: 1000 }), (known, weight) => {
        const { viewsPerDay, requestsPerDay } = forecast({ ...settings, weight }, known);
        expect(viewsPerDay).toBeLessThanOrEqual(requestsPerDay + 1);
        expect(forecast({ ...settings, weight: weight * 2 }, known).viewsPerDay).toBeGreaterThanOrEqual(viewsPerDay);
      }),
    );
  });
});

test("the facts are those of the last seven whole days, at the targets, by the bot's clock", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const { database } = store;
  const now = new Date("2026-03-12T15:00:00Z");
  await run(`insert into bots (bot_id, code_prefix, name, time_zone, category) values
    ('7000000001', 'AAAA', 'Quiz', 'Asia/Kolkata', 'games'), ('7000000002', 'BBBB', 'Garden', 'UTC', null)`);
  await run(
    "insert into creatives (creative_id, kind, url, review) values ('cre_1', 'vast', 'https://tags.test/1', 'approved')",
  );
  const campaign = {
    advertiser: "Shop",
    name: "One",
    formats: ["rewarded" as const],
    weight: 4,
    creativeIds: ["cre_1"],
    now,
  };
  const added = await addCampaign(database, { ...campaign, campaignId: "cmp_1" });
  expect(added.outcome).toBe("added");
  const row = (span: string, at: string, botId: string, campaignId: string, country: string, counts: string) =>
    `('${span}', '${at}', '${botId}', '${campaignId}', '${country}', 'ios', 'en', 'premium', ${counts})`;
  const rows = [
    row("day", "2026-03-05T00:00:00Z", "7000000001", "cmp_1", "DE", "10, 0, 8"),
    row("day", "2026-03-11T00:00:00Z", "7000000001", "", "DE", "0, 3, 0"),
    row("day", "2026-03-11T00:00:00Z", "7000000002", "", "AT", "0, 5, 0"),
    // Before them, and of today.
    row("day", "2026-03-04T00:00:00Z", "7000000001", "", "DE", "0, 100, 0"),
    row("day", "2026-03-12T00:00:00Z", "7000000001", "", "DE", "0, 100, 0"),
    row("hour", "2026-03-10T20:00:00Z", "7000000001", "", "DE", "0, 7, 0"),
    row("hour", "2026-03-10T20:00:00Z", "7000000002", "", "DE", "0, 9, 0"),
  ];
  await run(`insert into stats_audiences (span, starts_at, bot_id, campaign_id, country, platform, language, premium, fills,
    no_fills, rewards) values ${rows.join(", ")}`);
  await run(`insert into stats_bot_sums (span, starts_at, bot_id, fills, no_fills, rewards) values
    ('day', '2026-03-08T00:00:00Z', '7000000001', 10, 3, 8), ('hour', '2026-03-05T00:00:00Z', '7000000001', 1, 1, 1)`);

  const facts = (targeting: Targeting, of: { campaignId?: string } = {}) =>
    readForecastFacts(database, { targeting, priority: "standard", now, ...of });
  const ofShop = { priority: "standard", fills: 10, unfilled: 0, rewards: 8 };
  const unfilled = (count: number) => ({ priority: null, fills: 0, unfilled: count, rewards: 0 });
  const all = await facts({});
  expect(all).toMatchObject({ days: 4, overall: { fills: 10, rewards: 8 }, competingWeight: 4 });
  expect(all.requests).toEqual(expect.arrayContaining([ofShop, unfilled(8)]));
  expect((await facts({}, { campaignId: "cmp_1" })).competingWeight).toBe(0);
  for (const [targeting, expected] of [
    [{ countries: ["AT"] }, [unfilled(5)]],
    [{ excludedBots: ["7000000001"] }, [unfilled(5)]],
    [{ botCategories: ["games"], countries: ["DE"] }, [ofShop, unfilled(3)]],
    [{ excludedBotCategories: ["games"] }, [unfilled(5)]],
    [{ premium: false }, []],
    [{ premium: true, platforms: ["ios"], languages: ["en"], bots: ["7000000002"] }, [unfilled(5)]],
    // 20:00 UTC on a Tuesday is 01:30 on Wednesday in Kolkata.
    [{ hours: [1] }, [unfilled(7)]],
    [{ hours: [20] }, [unfilled(9)]],
    [{ weekdays: [2] }, [unfilled(9)]],
    [{ weekdays: [3], hours: [1, 2] }, [unfilled(7)]],
  ] satisfies [Targeting, object[]][]) {
    const { requests } = await facts(targeting);
    expect(requests, JSON.stringify(targeting)).toHaveLength(expected.length);
    expect(requests).toEqual(expect.arrayContaining(expected));
  }

  function run(text: string) {
    return database.run({ name: "", text }, []);
  }
});
