import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../migrations.ts";
import { addCampaign } from "./change-campaign.ts";
import { howFar } from "./delivered-so-far.ts";
import { listCampaigns } from "./list-campaigns.ts";

const limits = { totalBudgetMicros: null, dailyBudgetMicros: null, totalViewCap: null, totalClickCap: null };
const days = {
  all: { views: 30, clicks: 4, spentMicros: 6_000_000 },
  today: { views: 10, clicks: 1, spentMicros: 2_000_000 },
};

test.each([
  ["no limit", {}, null, null],
  ["a total budget", { totalBudgetMicros: 8_000_000 }, 2_000_000, 0.75],
  ["a daily budget", { dailyBudgetMicros: 5_000_000 }, 3_000_000, null],
  ["both", { totalBudgetMicros: 8_000_000, dailyBudgetMicros: 5_000_000 }, 2_000_000, 0.75],
  ["a view cap that is nearer to its end", { totalBudgetMicros: 8_000_000, totalViewCap: 32 }, 2_000_000, 0.9375],
  ["a click cap", { totalClickCap: 40 }, null, 0.1],
  ["a budget below what is spent", { totalBudgetMicros: 4_000_000 }, 0, 1.5],
])("of a campaign with %s the list says how far it is", (_name, changes, budgetLeftMicros, deliveredShare) => {
  expect(howFar({ ...limits, ...changes }, days)).toEqual({ delivered: days.all, budgetLeftMicros, deliveredShare });
});

test("the list of campaigns says what each has spent, has left and has delivered", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const now = new Date("2026-03-02T12:00:00Z");
  const campaign = {
    name: "Shop",
    advertiser: "Shop",
    formats: ["direct_link" as const],
    landingUrl: "https://s.test/",
  };
  await addCampaign(store.database, { ...campaign, campaignId: "cmp_1", totalBudgetMicros: 10_000_000, now });
  await addCampaign(store.database, { ...campaign, campaignId: "cmp_2", dailyBudgetMicros: 10_000_000, now });
  const text = `insert into campaign_days values ('cmp_1', '2026-03-01', 1, 2, 3000000), ('cmp_1', '2026-03-02', 0, 1, 1000000),
    ('cmp_2', '2026-03-01', 0, 9, 9000000), ('cmp_2', '2026-03-02', 0, 1, 1000000)`;
  await store.database.run({ name: "", text }, []);
  expect(
    (
      await listCampaigns(
        store.database,
        { order: "oldest", limit: 10, archived: false },
        { now, standingsOf: async () => new Map() },
      )
    ).rows,
  ).toMatchObject([
    { campaignId: "cmp_1", delivered: { views: 1, clicks: 3 }, budgetLeftMicros: 6_000_000, deliveredShare: 0.4 },
    { campaignId: "cmp_2", delivered: { spentMicros: 10_000_000 }, budgetLeftMicros: 9_000_000, deliveredShare: null },
  ]);
});
