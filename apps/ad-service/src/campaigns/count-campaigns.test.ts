import { openTestDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { migrations } from "../migrations.ts";
import { addCampaign, type CampaignDraft, setCampaignStatus } from "./change-campaign.ts";
import { countCampaigns } from "./count-campaigns.ts";

const now = new Date("2026-03-02T12:00:00Z");
const link = { formats: ["direct_link" as const], landingUrl: "https://s.test/", clickPriceMicros: 1000 };

test("active campaigns are counted by what they do now, each with the name of the latest", async () => {
  const store = await openTestDatabase({ schema: "ad_service", migrations });
  onTestFinished(() => store.dispose());
  const { database } = store;
  const creatives = `insert into creatives (creative_id, kind, url, review) values
    ('cre_approved', 'vast', 'https://tags.test/1', 'approved'), ('cre_waiting', 'vast', 'https://tags.test/2', 'waiting')`;
  await database.run({ name: "", text: creatives }, []);
  const campaigns: Record<string, Partial<CampaignDraft>> = {
    "first that runs": link,
    "second that runs": { creativeIds: ["cre_approved", "cre_waiting"] },
    "begins later": { ...link, startsAt: new Date("2026-03-03T00:00:00Z") },
    "is over": { ...link, endsAt: new Date("2026-03-01T00:00:00Z") },
    "has spent its budget": { ...link, totalBudgetMicros: 3_000_000 },
    "waits for approval": { creativeIds: ["cre_waiting"] },
    "is paused": link,
    "is archived": link,
    "of an advertiser without money": { ...link, advertiser: "Empty" },
    "of an advertiser who is stopped": { ...link, advertiser: "Stopped" },
  };
  const ids = new Map<string, string>();
  for (const [index, [name, settings]] of Object.entries(campaigns).entries()) {
    const campaignId = `cmp_${String(index).padStart(2, "0")}`;
    const draft = { advertiser: "Shop", formats: ["rewarded" as const], ...settings, name };
    const added = await addCampaign(database, { ...draft, campaignId, now: new Date(now.getTime() - 1e9 + index) });
    if (added.outcome !== "added") throw new Error(`${name}: ${added.outcome}`);
    ids.set(draft.advertiser, added.campaign.advertiserId);
  }
  await setCampaignStatus(database, { campaignId: "cmp_06", status: "paused", by: "operator", now });
  await setCampaignStatus(database, { campaignId: "cmp_07", status: "archived", by: "operator", now });
  const spent = "insert into campaign_days values ('cmp_04', '2026-03-01', 0, 3, 3000000)";
  await database.run({ name: "", text: spent }, []);
  const standingsOf = async () =>
    new Map([
      [`${ids.get("Empty")}`, { advertiserLeftMicros: 0, isAdvertiserStopped: false }],
      [`${ids.get("Stopped")}`, { advertiserLeftMicros: null, isAdvertiserStopped: true }],
    ]);
  const count = (advertiser?: string) => countCampaigns(database, { advertiser, now, standingsOf });
  expect((await count()).toSorted((one, other) => one.phase.localeCompare(other.phase))).toEqual([
    { phase: "ended", count: 1, name: "is over" },
    { phase: "planned", count: 1, name: "begins later" },
    { phase: "running", count: 2, name: "second that runs" },
    { phase: "spent", count: 1, name: "has spent its budget" },
    { phase: "stopped", count: 1, name: "of an advertiser who is stopped" },
    { phase: "unapproved", count: 1, name: "waits for approval" },
    { phase: "unfunded", count: 1, name: "of an advertiser without money" },
  ]);
  expect(await count("empty")).toEqual([{ phase: "unfunded", count: 1, name: "of an advertiser without money" }]);
  expect(await count("nobody")).toEqual([]);
});
