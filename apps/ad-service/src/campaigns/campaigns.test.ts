import type { CampaignStatus } from "@intermission/operator-api/campaign-words";
import { campaignSettings, checkLandingUrl } from "@intermission/operator-api/campaigns";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { findCampaign } from "./campaigns.ts";
import { addCampaign, type CampaignDraft, setCampaignStatus, updateCampaign } from "./change-campaign.ts";
import { listCampaigns } from "./list-campaigns.ts";

const now = new Date("2026-03-01T12:00:00Z");
const later = new Date("2026-03-01T13:00:00Z");
const link: CampaignDraft = {
  name: "Shop",
  advertiser: "The Shop",
  formats: ["direct_link"],
  landingUrl: "https://shop.example/sale",
  weight: 5,
  clickPriceMicros: 1500,
};

describe("campaigns", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  const setStatus = (campaignId: string, status: CampaignStatus) =>
    setCampaignStatus(store.database, { campaignId, status, by: "operator", now: later });
  const listed = async (campaignId: string, options?: { archived: boolean }) =>
    (
      await listCampaigns(
        store.database,
        { order: "oldest", limit: 1000, archived: false, ...options },
        { now: later, standingsOf: async () => new Map() },
      )
    ).rows.filter((campaign) => campaign.campaignId === campaignId);

  test("a campaign that is added, changed, paused, resumed and archived has the state that was set", async () => {
    const { database } = store;
    const sold: Partial<CampaignDraft> = {
      priority: "sponsorship",
      category: "games",
      pacing: "asap",
      startsAt: now,
      endsAt: later,
      totalBudgetMicros: 5e9,
      dailyBudgetMicros: 1e9,
      totalClickCap: 1000,
      dailyClickCap: 100,
      userCap: 3,
      userCapSeconds: 86_400,
      targeting: { languages: ["en"], premium: true, hours: [8, 9] },
    };
    const added = await addCampaign(database, { ...link, ...sold, campaignId: "cmp_1", now });
    const expected = { ...link, ...sold, status: "active", creatives: [], totalViewCap: null };
    expect(added).toMatchObject({ outcome: "added", campaign: expected });
    const updated = await updateCampaign(database, {
      campaignId: "cmp_1",
      changes: { weight: 9, userCap: 4 },
      now: later,
    });
    expect(updated).toMatchObject({
      outcome: "updated",
      campaign: { ...expected, weight: 9, userCap: 4, updatedAt: later },
    });
    await setStatus("cmp_1", "paused");
    expect(await listed("cmp_1")).toMatchObject([{ weight: 9, status: "paused" }]);
    await setStatus("cmp_1", "active");
    expect(await findCampaign(database, "cmp_1")).toMatchObject({ status: "active" });
  });

  test("a change that makes the settings inconsistent is refused and changes nothing", async () => {
    await addCampaign(store.database, { ...link, campaignId: "cmp_whole", now });
    const changes = { landingUrl: null };
    const refused = await updateCampaign(store.database, { campaignId: "cmp_whole", changes, now: later });
    expect(refused).toMatchObject({ outcome: "invalid" });
    expect(await findCampaign(store.database, "cmp_whole")).toMatchObject({ landingUrl: link.landingUrl });
    const unknown = await updateCampaign(store.database, { campaignId: "cmp_none", changes: {}, now });
    expect(unknown).toEqual({ outcome: "unknown-campaign" });
  });

  test("of two changes of the same values that were read, the second one is refused and changes nothing", async () => {
    const campaignId = "cmp_twice";
    await addCampaign(store.database, { ...link, campaignId, now });
    const read = { campaignId, expectedUpdatedAt: now };
    const budget = (dailyBudgetMicros: number) =>
      updateCampaign(store.database, { ...read, changes: { dailyBudgetMicros }, now: later });
    expect(await budget(30e6)).toMatchObject({ outcome: "updated" });
    expect(await budget(20e6)).toEqual({ outcome: "changed-since" });
    expect(await findCampaign(store.database, campaignId)).toMatchObject({ dailyBudgetMicros: 30e6 });
  });

  test("an archived campaign stays archived and is listed only on request", async () => {
    await addCampaign(store.database, { ...link, campaignId: "cmp_over", now });
    await setStatus("cmp_over", "archived");
    expect(await setStatus("cmp_over", "active")).toEqual({ outcome: "archived" });
    expect(await listed("cmp_over")).toEqual([]);
    expect(await listed("cmp_over", { archived: true })).toMatchObject([{ status: "archived" }]);
  });

  const faults: { name: string; changes: Partial<CampaignDraft>; message: RegExp }[] = [
    { name: "no landing URL", changes: { landingUrl: null }, message: /landing URL/ },
    { name: "a link with a video", changes: { creativeIds: ["cre_1"] }, message: /no video/ },
    {
      name: "tasks beside links, whose budget counts what is under way in another way",
      changes: { formats: ["direct_link", "task"], taskChatId: "-1001" },
      message: /no other format/,
    },
    { name: "a rewarded campaign without a video", changes: { formats: ["rewarded"] }, message: /video/ },
    { name: "an end before the start", changes: { startsAt: later, endsAt: now }, message: /end after/ },
    { name: "half a cap per user", changes: { userCap: 3 }, message: /cap per user/ },
  ];
  test.each(faults)("$name is refused with a message", async ({ changes, message }) => {
    const added = await addCampaign(store.database, { ...link, ...changes, campaignId: "cmp_3", now });
    expect(added).toMatchObject({ outcome: "invalid", fault: { message: expect.stringMatching(message) } });
  });

  test("a video that was never added is refused", async () => {
    const draft: CampaignDraft = { ...link, formats: ["rewarded", "direct_link"], creativeIds: ["cre_none"] };
    const added = await addCampaign(store.database, { ...draft, campaignId: "cmp_3", now });
    expect(added).toEqual({ outcome: "unknown-creative", creativeId: "cre_none" });
    expect(await findCampaign(store.database, "cmp_3")).toBeUndefined();
  });
});

describe("a campaign's settings", () => {
  test.each([
    ["no name", { name: " " }, /1 to 128/],
    ["a long advertiser", { advertiser: "x".repeat(129) }, /1 to 128/],
    ["half a weight", { weight: 0.5 }, /whole/],
    ["a negative price", { viewPriceMicros: -1 }, /micros \(millionths of the currency\) from 0 to 1000000000000000/],
    ["a budget of nothing", { dailyBudgetMicros: 0 }, /from 1 to 100000000000000000: for no budget send null/],
    ["a category with blanks", { category: "Real Money" }, /lower-case/],
    ["a language that is not a code", { targeting: { languages: ["English"] } }, /language code/],
    ["an hour that does not exist", { targeting: { hours: [24] } }, /./],
    ["a country that is no code", { targeting: { countries: ["Germany"] } }, /./],
    ["an unknown target", { targeting: { cities: ["Berlin"] } }, /./],
    ["a landing URL that is not a page", { landingUrl: "javascript:alert(1)" }, /https/],
  ])("%s is refused", (_what, changes, message) => {
    const checked = campaignSettings.partial().safeParse(changes);
    expect(checked.error?.issues[0]?.message).toMatch(message);
  });
});

describe("landing URLs", () => {
  test.each(["https://shop.example/", "http://shop.example/?a=b#c", "https://t.me/shop_bot?start=x"])(
    "%s is accepted",
    (url) => {
      expect(checkLandingUrl(url)).toEqual({ outcome: "valid", url });
    },
  );

  test("an address of tg: is kept as the t.me link that every browser opens", () => {
    const url = "https://t.me/shop_bot?start=x";
    expect(checkLandingUrl("tg://resolve?domain=shop_bot&start=x")).toEqual({ outcome: "valid", url });
  });

  test.each([
    "shop.example",
    "javascript:alert(1)",
    "data:text/html,hi",
    "tg://settings",
    "tg://resolve?domain=a/b",
    "https://user@shop.example/",
    "https://user:pass@shop.example/",
    "https://:pass@shop.example/",
    "https://@shop.example/",
    "https://",
    `https://shop.example/${"x".repeat(2048)}`,
  ])("%s is refused", (url) => {
    expect(checkLandingUrl(url)).toMatchObject({ outcome: "invalid" });
  });
});
