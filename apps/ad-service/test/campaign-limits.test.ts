import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { updateBot } from "../src/bots/change-bot.ts";
import { addCampaign, type CampaignDraft } from "../src/campaigns/change-campaign.ts";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { migrations } from "../src/migrations.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { openDirectLinkFixture } from "./fixtures/direct-link-fixture.ts";
import { type Opened, openViewFixture, type ViewFixture, wholeVideo } from "./fixtures/view-fixture.ts";

describe("limits of a campaign and of a user", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;
  let latest = 0;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
  });
  afterEach(() => fixture.close());

  /** A campaign with a higher priority than the house campaign, in this bot only. */
  async function sell(settings: Partial<CampaignDraft>): Promise<string> {
    latest += 1;
    const campaignId = `cmp_limits_${latest}`;
    const added = await addCampaign(fixture.database, {
      campaignId,
      name: campaignId,
      advertiser: "Acme",
      newAdvertiser: { billing: "credit", creditLimitMicros: null },
      formats: ["rewarded"],
      creativeIds: ["cre_1"],
      priority: "sponsorship",
      pacing: "asap",
      viewPriceMicros: 2500,
      targeting: { bots: [fixture.botId] },
      ...settings,
      now: fixture.clock.now,
    });
    if (added.outcome !== "added") throw new Error(added.outcome);
    await fixture.campaigns.refresh();
    return campaignId;
  }

  const viewsOf = (campaignId: string) =>
    store.database.run({ name: "", text: "select from views where campaign_id = $1" }, [campaignId]);
  const daysOf = (campaignId: string) => {
    const text = `select views, clicks, spent_micros as "spentMicros" from campaign_days where campaign_id = $1`;
    return store.database.run({ name: "", text }, [campaignId]);
  };

  const viewLimits: [limit: string, settings: Partial<Parameters<typeof addCampaign>[1]>][] = [
    ["a daily cap", { dailyViewCap: 10 }],
    ["a total cap", { totalViewCap: 10 }],
    ["a daily budget", { dailyBudgetMicros: 26_000 }],
    ["a total budget", { totalBudgetMicros: 25_000 }],
  ];
  for (const [what, settings] of viewLimits) {
    const tags = ["a daily cap", "a total budget"].includes(what) ? [] : ["long"];
    const name = `${what} is never exceeded by 64 concurrent openings on three nodes, and is used up to the last view`;
    test(name, { tags }, async () => {
      const campaignId = await sell(settings);
      const nodes = [undefined, await fixture.startNode(), await fixture.startNode()];
      const users = Array.from({ length: 64 }, (_, user) => String(10_000 + user));
      const opened = await Promise.all(users.map((user, index) => fixture.open(user, undefined, nodes[index % 3])));
      expect(opened.every(({ body }) => body.outcome === "session")).toBe(true);
      expect(await viewsOf(campaignId)).toHaveLength(10);

      const views = opened.map(({ body }) => body as unknown as Opened);
      await Promise.all(views.map((view) => fixture.report(view, { started: true })));
      fixture.advance(10);
      await Promise.all(views.map((view) => fixture.report(view, { reports: wholeVideo(), closed: "tap" })));
      expect(await daysOf(campaignId)).toEqual([{ views: 10, clicks: 0, spentMicros: 25_000 }]);
      for (const node of nodes) expect((await fixture.open("9999", undefined, node)).body.outcome).toBe("session");
      expect(await viewsOf(campaignId)).toHaveLength(10);
    });
  }

  test("an abandoned opening releases its capacity after a quarter of an hour", async () => {
    const campaignId = await sell({ dailyViewCap: 1 });
    await fixture.begin("1");
    await fixture.begin("2");
    expect(await viewsOf(campaignId)).toHaveLength(1);
    fixture.advance(16 * 60);
    await fixture.campaigns.refresh();
    await fixture.begin("3");
    expect(await viewsOf(campaignId)).toHaveLength(2);
  });

  test("a user sees a campaign as often as its cap per user allows, and again after its period", async () => {
    const campaignId = await sell({ userCap: 1, userCapSeconds: 7200 });
    const earn = async () => {
      const view = await fixture.begin("77", await fixture.issue("77"));
      await fixture.play(view, 0, 10);
      await fixture.report(view, { closed: "tap" });
    };
    await earn();
    expect(await viewsOf(campaignId)).toHaveLength(1);
    await earn();
    expect(await viewsOf(campaignId)).toHaveLength(1);
    fixture.advance(7200);
    await earn();
    expect(await viewsOf(campaignId)).toHaveLength(2);
  });

  test("a tester's view completes: the webhook marks it as a test, and no one pays", async () => {
    const campaignId = await sell({ dailyViewCap: 1 });
    await updateBot(fixture.bots, { botId: fixture.botId, settings: { testers: ["42"] }, now: fixture.clock.now });
    const view = await fixture.begin("42", await fixture.issue("42"));
    await fixture.play(view, 0, 10);
    expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    const [event] = await fixture.events();
    expect(JSON.parse(event?.body ?? "")).toMatchObject({ event: "rewarded", user_tg_id: "42", test: true });
    expect(await fixture.charges()).toEqual([]);
    expect(await daysOf(campaignId)).toEqual([]);
    const facts = `select bot_id from ad_requests where bot_id = $1 union all select bot_id from ad_milestones where bot_id = $1`;
    expect(await store.database.run(statement("test.facts", facts), [fixture.botId])).toEqual([]);
  });

  const clickLimits = [
    ["a daily cap", "daily_click_cap = 10"],
    ["a total cap", "total_click_cap = 10"],
    ["a daily budget", "daily_budget_micros = 16000"],
    ["a total budget", "total_budget_micros = 15000"],
  ] as const;
  for (const [what, limit] of clickLimits) {
    const tags = ["a total cap", "a daily budget"].includes(what) ? [] : ["long"];
    const name = `${what} is never exceeded by 64 concurrent clicks on three nodes, and is used up to the last click`;
    test(name, { tags }, async () => {
      const links = await openDirectLinkFixture(store.database, directLinkRoutes);
      await links.addNode();
      const text = `update campaigns set pacing = 'asap', ${limit} where campaign_id = $1`;
      await store.database.run({ name: "", text }, [links.campaignId]);
      await links.refresh();
      const follow = async (first: number, count: number) => {
        const users = Array.from({ length: count }, (_, user) => String(first + user));
        const codes = await Promise.all(users.map((user) => links.issue(user)));
        const answers = await Promise.all(codes.map((code, index) => links.visit(code, {}, index % 3)));
        return Map.groupBy(answers, ({ status }) => status);
      };
      const statuses = await follow(20_000, 64);
      expect(statuses.get(302)).toHaveLength(10);
      expect(statuses.get(200), "further requests are answered that there is no ad").toHaveLength(54);
      expect(await daysOf(links.campaignId)).toEqual([{ views: 0, clicks: 10, spentMicros: 15_000 }]);
      expect(await links.events()).toHaveLength(10);
      expect((await follow(30_000, 3)).get(200)).toHaveLength(3);
      expect(await links.charges()).toHaveLength(10);
      await links.close();
    });
  }

  test("a tester's click is counted as a test, and no one pays", async () => {
    const links = await openDirectLinkFixture(store.database, directLinkRoutes);
    await updateBot(links.bots, { botId: links.botId, settings: { testers: ["501"] }, now: new Date() });
    const answer = await links.visit(await links.issue("501"));
    expect(answer.status).toBe(302);
    const [event] = await links.events();
    expect(JSON.parse(event?.body ?? "")).toMatchObject({ event: "direct_link", user_tg_id: "501", test: true });
    expect((await links.clicks()).map(({ outcome }) => outcome)).toEqual(["test"]);
    expect(await daysOf(links.campaignId)).toEqual([]);
    await links.close();
  });
});
