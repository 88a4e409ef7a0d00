import { campaignPace } from "@intermission/operator-api/campaign-pace";
import { expect, test } from "vitest";
import { daysLeft, phaseOf } from "../src/campaigns/pace.ts";

const at = (day: number) => new Date(Date.UTC(2026, 2, day));
const plan = { createdAt: at(1), startsAt: at(1), endsAt: at(11) };

test("a campaign's pace compares what it delivered with how much of its time is over", () => {
  expect(campaignPace({ ...plan, deliveredShare: 0.5 }, at(6).getTime())).toBe(1);
  expect(campaignPace({ ...plan, deliveredShare: 0.2 }, at(5).getTime())).toBe(0.5);
  expect(campaignPace({ ...plan, deliveredShare: 0.9 }, at(30).getTime())).toBe(0.9);
});

test("without an end, without a total limit or before its start a campaign has no pace", () => {
  expect(campaignPace({ ...plan, endsAt: null, deliveredShare: 0.5 }, at(6).getTime())).toBeUndefined();
  expect(campaignPace({ ...plan, deliveredShare: null }, at(6).getTime())).toBeUndefined();
  expect(campaignPace({ ...plan, startsAt: at(8), deliveredShare: 0 }, at(6).getTime())).toBeUndefined();
  expect(campaignPace({ ...plan, startsAt: at(11), deliveredShare: 0 }, at(11).getTime())).toBeUndefined();
});

test("a campaign of minutes or of a few hours has no pace yet, also a short one, unless it is over", () => {
  const after = (minutes: number) => at(1).getTime() + minutes * 60_000;
  const paceAfter = (minutes: number, endsAt: Date) =>
    campaignPace({ ...plan, endsAt, deliveredShare: 0 }, after(minutes));
  expect([5, 119, 280].map((minutes) => paceAfter(minutes, at(11)))).toEqual([undefined, undefined, undefined]);
  expect(paceAfter(300, at(11))).toBe(0);
  expect(paceAfter(119, at(2))).toBeUndefined();
  expect(paceAfter(121, at(2))).toBe(0);
  const hour = new Date(after(60));
  expect([paceAfter(59, hour), paceAfter(60, hour)]).toEqual([undefined, 0]);
});

test("an active campaign that does not run says why", () => {
  const creative = {
    creativeId: "cre_1",
    weight: 1,
    label: null,
    callToAction: null,
    isActive: true,
    isApproved: true,
  };
  const prices = {
    formats: ["rewarded" as const],
    viewPriceMicros: 10,
    clickPriceMicros: 1,
    taskPriceMicros: 1,
    creatives: [creative],
  };
  const left = { budgetLeftMicros: 10, deliveredShare: 0.1, advertiserLeftMicros: null, isAdvertiserStopped: false };
  const campaign = { status: "active", pausedBy: null, review: null, ...plan, ...prices, ...left } as const;
  const phase = (changes: Partial<Parameters<typeof phaseOf>[0]>) =>
    phaseOf({ ...campaign, ...changes }, at(6).getTime());
  expect(phase({})).toBe("running");
  expect(phase({ startsAt: at(7) })).toBe("planned");
  expect(phase({ endsAt: at(6) })).toBe("ended");
  expect(phase({ budgetLeftMicros: 0 })).toBe("spent");
  expect(phase({ budgetLeftMicros: 9 })).toBe("spent");
  expect(phase({ budgetLeftMicros: 9, formats: ["rewarded", "direct_link"] })).toBe("running");
  expect(phase({ budgetLeftMicros: 0, viewPriceMicros: 0 })).toBe("spent");
  expect(phase({ budgetLeftMicros: null, deliveredShare: 1 })).toBe("spent");
  expect(phase({ status: "paused", pausedBy: "operator", budgetLeftMicros: 0 })).toBe("paused-by-operator");
  expect(phase({ status: "paused", pausedBy: "advertiser" })).toBe("paused-by-advertiser");
  expect(phase({ advertiserLeftMicros: 9 })).toBe("unfunded");
  expect(phase({ advertiserLeftMicros: 10 })).toBe("running");
  expect(phase({ advertiserLeftMicros: 0, viewPriceMicros: 0 })).toBe("running");
  expect(phase({ advertiserLeftMicros: 0, isAdvertiserStopped: true })).toBe("stopped");
  expect(phase({ creatives: [{ ...creative, isApproved: false }] })).toBe("unapproved");
  expect(phase({ creatives: [{ ...creative, isActive: false }] })).toBe("unapproved");
  expect(phase({ creatives: [], formats: ["rewarded", "direct_link"] })).toBe("running");
});

test("the last day of a campaign has no days left", () => {
  expect(daysLeft({ endsAt: at(11) }, at(10).getTime() + 1)).toBe(0);
  expect(daysLeft({ endsAt: at(11) }, at(6).getTime())).toBe(5);
  expect(daysLeft({ endsAt: null }, at(6).getTime())).toBeUndefined();
});
