import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addCampaign, setCampaignStatus } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";
import { startCampaignSnapshot } from "./campaign-snapshot.ts";

const now = new Date("2026-03-01T12:00:00Z");

describe("the snapshot of running campaigns", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  test("a change is visible immediately on the node that made it, and on other nodes after their next refresh", async () => {
    const { database } = store;
    const log = { error: () => {} };
    const here = await startCampaignSnapshot({ database, log, everyMs: 60_000 });
    const elsewhere = await startCampaignSnapshot({ database, log, everyMs: 20 });
    const seenBy = (node: typeof here) => node.index.states.map(({ campaign }) => campaign.campaignId);
    expect(seenBy(here)).toEqual([]);

    const landingUrl = "https://shop.example/";
    const shop = {
      name: "Shop",
      advertiser: "Shop",
      formats: ["direct_link" as const],
      landingUrl,
    };
    await addCampaign(database, { ...shop, campaignId: "cmp_1", now });
    await here.refresh();
    expect(seenBy(here)).toEqual(["cmp_1"]);
    const others = { rewarded: false, interstitial: false, task: false };
    expect(here.index.hasFormat).toEqual({ ...others, direct_link: true });
    await expect.poll(() => seenBy(elsewhere)).toEqual(["cmp_1"]);

    await setCampaignStatus(database, { campaignId: "cmp_1", status: "paused", by: "operator", now });
    await expect.poll(() => seenBy(elsewhere)).toEqual([]);
    await setCampaignStatus(database, { campaignId: "cmp_1", status: "active", by: "operator", now });
    await expect.poll(() => seenBy(elsewhere)).toEqual(["cmp_1"]);
    await Promise.all([here.stop(), elsewhere.stop()]);
  });
});
