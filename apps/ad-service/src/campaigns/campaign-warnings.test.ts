import { type Campaign, type CampaignSettings, defaultSettings } from "@intermission/operator-api/campaigns";
import { expect, test } from "vitest";
import { campaignWarnings } from "./campaign-warnings.ts";

const now = new Date("2026-03-01T12:00:00Z");
const earlier = new Date("2026-02-20T00:00:00Z");
const none = { views: 0, clicks: 0, spentMicros: 0 };
const advertisers = ["Acme", "Northern Lights Ltd", "Shop"];
const running: Campaign = {
  ...defaultSettings,
  campaignId: "cmp_1",
  name: "Spring",
  advertiserId: "adv_acme",
  advertiser: "Acme",
  formats: ["direct_link"],
  status: "active",
  pausedBy: null,
  review: null,
  reviewReason: null,
  submittedAt: null,
  approvedAt: null,
  creatives: [],
  createdAt: earlier,
  updatedAt: earlier,
};

function codesOf(changes: Partial<CampaignSettings>, more: Partial<Parameters<typeof campaignWarnings>[0]> = {}) {
  const facts = { before: running, delivered: { total: none, today: none }, advertisers, now };
  return campaignWarnings({ ...facts, ...more, changes }).map(({ field, effect }) => `${field} ${effect.code}`);
}

test.each([
  "https://shop.test/?c={clickid}",
  "https://shop.test/?c={click_id}&s={sub_id}",
  "https://shop.test/?c={{click_id}}",
  "https://shop.test/?c=$" + "{click_id}",
  "https://shop.test/?c=[CLICK_ID]",
  "https://shop.test/%7Bclick%7D/",
  "https://shop.test/?c=%%CLICK_ID%%",
  "https://shop.test/?c=%3Cclick_id%3E",
  "https://shop.test/?c=__CLICKID__",
  "https://shop.test/?c={ click_id }",
])("%s holds a placeholder that no macro fills, which loses conversions", (landingUrl) => {
  expect(codesOf({ landingUrl })).toContain("landingUrl MACRO_UNKNOWN");
  expect(codesOf({ landingUrl }, { before: { ...running, landingUrl } })).toEqual([]);
});

test.each([
  "https://shop.test/",
  "https://shop.test/?c={click_id}&k={CODE}&b=%7Bbot_id%7D",
  "https://shop.test/?filter[price]=1&tags[]=a&sale=50%25",
  "https://shop.test/__init__/?a=<3",
])("%s causes no warning", (landingUrl) => expect(codesOf({ landingUrl })).toEqual([]));

test.each([
  ["Acne", "Acme"],
  ["ACME Inc.", "Acme"],
  ["A.C.M.E.", "Acme"],
  ["Nothern Ligths Ltd", "Northern Lights Ltd"],
  ["Northern Lights", "Northern Lights Ltd"],
  ["The Shop", "Shop"],
])("the new advertiser %s is probably %s", (advertiser, meant) => {
  const [warning] = campaignWarnings({
    before: undefined,
    changes: { advertiser },
    delivered: { total: none, today: none },
    advertisers,
    now,
  });
  expect(warning).toMatchObject({
    effect: { code: "ADVERTISER_NEW", values: { similar: meant } },
    message: expect.stringContaining(`"${meant}"`),
  });
});

test.each(["Acme", "acme ", "Globex", "Ace", "Stop & Go", "Southern Lights GmbH"])(
  "the advertiser %s causes no warning",
  (advertiser) => expect(codesOf({ advertiser })).toEqual([]),
);

test("an end in the past ends a running campaign and keeps a new one from running", () => {
  expect(codesOf({ endsAt: earlier })).toEqual(["endsAt ENDS_NOW"]);
  expect(codesOf({ endsAt: earlier }, { before: undefined })).toEqual(["endsAt NEVER_RUNS"]);
  expect(codesOf({ endsAt: earlier }, { before: { ...running, endsAt: earlier } })).toEqual([]);
  expect(codesOf({ endsAt: earlier }, { before: { ...running, status: "paused" } })).toEqual([]);
  expect(codesOf({ endsAt: null })).toEqual([]);
  expect(codesOf({ endsAt: new Date("2026-03-02T00:00:00Z") })).toEqual([]);
});

test("a limit that is not above what is delivered stops the campaign", () => {
  const delivered = {
    total: { views: 9, clicks: 7, spentMicros: 5e6 },
    today: { views: 3, clicks: 2, spentMicros: 1e6 },
  };
  expect(codesOf({ totalBudgetMicros: 5e6 }, { delivered })).toEqual(["totalBudgetMicros LIMIT_REACHED"]);
  expect(codesOf({ dailyBudgetMicros: 5e5 }, { delivered })).toEqual(["dailyBudgetMicros LIMIT_REACHED_TODAY"]);
  expect(codesOf({ totalViewCap: 9, dailyClickCap: 1 }, { delivered })).toEqual([
    "totalViewCap LIMIT_REACHED",
    "dailyClickCap LIMIT_REACHED_TODAY",
  ]);
  expect(codesOf({ totalBudgetMicros: 6e6, dailyBudgetMicros: 2e6, totalClickCap: 8 }, { delivered })).toEqual([]);
  expect(codesOf({ totalBudgetMicros: null }, { delivered })).toEqual([]);
  expect(codesOf({ totalBudgetMicros: 1 })).toEqual([]);
  const [warning] = campaignWarnings({
    before: running,
    changes: { dailyBudgetMicros: 5e5 },
    delivered,
    advertisers,
    now,
  });
  expect(warning?.message).toBe("0.5 is not above the 1 spent today, so the campaign stops until midnight UTC");
});
