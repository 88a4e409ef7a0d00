import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { allMigrations } from "../migrations/all-migrations.ts";
import { addCampaign } from "./add-campaign.ts";
import type { CampaignDraft } from "./campaign-fault.ts";
import { checkLandingUrl } from "./check-landing-url.ts";
import { listCampaigns } from "./list-campaigns.ts";
import { findCampaign } from "./rows.ts";
import { pauseCampaign, resumeCampaign, updateCampaign } from "./update-campaign.ts";

const now = new Date("2026-03-01T12:00:00Z");
const later = new Date("2026-03-01T13:00:00Z");
const link: CampaignDraft = {
  name: "Shop",
  advertiser: "The Shop",
  format: "direct_link",
  landingUrl: "https://shop.example/sale",
  weight: 5,
  priceMicros: 1500,
};

describe.each(testDatabases())("campaigns, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;
  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations: allMigrations });
  });
  afterAll(() => store.dispose());

  test("added, changed, paused and resumed, it is what was said", async () => {
    const { database } = store;
    const added = await addCampaign(database, { ...link, campaignId: "cmp_1", now });
    expect(added).toMatchObject({ outcome: "added", campaign: { ...link, isActive: true, creativeId: null } });
    const updated = await updateCampaign(database, { campaignId: "cmp_1", changes: { weight: 9 }, now: later });
    expect(updated).toMatchObject({ outcome: "updated", campaign: { ...link, weight: 9, updatedAt: later } });
    await pauseCampaign(database, { campaignId: "cmp_1", now: later });
    expect(await listCampaigns(database)).toMatchObject([{ campaignId: "cmp_1", weight: 9, isActive: false }]);
    await resumeCampaign(database, { campaignId: "cmp_1", now: later });
    expect(await findCampaign(database, "cmp_1")).toMatchObject({ isActive: true });
  });

  test("a change that would break it is refused, and nothing is changed", async () => {
    const changes = { landingUrl: "javascript:alert(1)" };
    const refused = await updateCampaign(store.database, { campaignId: "cmp_1", changes, now: later });
    expect(refused).toMatchObject({ outcome: "invalid" });
    expect(await findCampaign(store.database, "cmp_1")).toMatchObject({ landingUrl: link.landingUrl });
    const unknown = await updateCampaign(store.database, { campaignId: "cmp_2", changes: {}, now });
    expect(unknown).toEqual({ outcome: "unknown-campaign" });
  });

  const faults: { name: string; changes: Partial<CampaignDraft>; message: RegExp }[] = [
    { name: "no name", changes: { name: " " }, message: /name/ },
    { name: "a long advertiser", changes: { advertiser: "x".repeat(129) }, message: /advertiser/ },
    { name: "no landing URL", changes: { landingUrl: undefined }, message: /landing URL/ },
    { name: "a video that is a direct link", changes: { creativeId: "cre_1" }, message: /no video/ },
    { name: "a rewarded campaign without a video", changes: { format: "rewarded" }, message: /video/ },
    { name: "half a weight", changes: { weight: 0.5 }, message: /weight/ },
    { name: "a negative price", changes: { priceMicros: -1 }, message: /price/ },
  ];
  test.each(faults)("$name is refused in words", async ({ changes, message }) => {
    const added = await addCampaign(store.database, { ...link, ...changes, campaignId: "cmp_3", now });
    expect(added).toMatchObject({ outcome: "invalid", message: expect.stringMatching(message) });
  });

  test("a video that was never added is refused", async () => {
    const draft = { ...link, format: "rewarded" as const, creativeId: "cre_none", campaignId: "cmp_3", now };
    expect(await addCampaign(store.database, draft)).toEqual({ outcome: "unknown-creative" });
  });
});

describe("landing URLs", () => {
  test.each(["https://shop.example/", "http://shop.example/?a=b#c", "https://t.me/shop_bot?start=x"])(
    "%s may stand",
    (url) => {
      expect(checkLandingUrl(url)).toEqual({ outcome: "valid", url });
    },
  );

  test.each([
    "shop.example",
    "javascript:alert(1)",
    "data:text/html,hi",
    "tg://resolve?domain=shop",
    "https://user@shop.example/",
    "https://user:pass@shop.example/",
    "https://",
    `https://shop.example/${"x".repeat(2048)}`,
  ])("%s may not", (url) => {
    expect(checkLandingUrl(url)).toMatchObject({ outcome: "invalid" });
  });
});
