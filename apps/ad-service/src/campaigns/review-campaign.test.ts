import type { Campaign } from "@intermission/operator-api/campaigns";
import { expect, test } from "vitest";
import { stateOf } from "../../test/fixtures/selection-fixture.ts";
import { decided, reviewEffects, revised, submitted } from "./review-campaign.ts";

const now = new Date("2026-03-01T12:00:00Z");
const facts = { spentMicros: 60n, leftMicros: 90n, now };
const before = (changes: Partial<Campaign>) =>
  stateOf("cmp_1", { landingUrl: "https://shop.test/", viewPriceMicros: 5, clickPriceMicros: 5, ...changes }).campaign;
const approved = before({ review: "approved", approvedAt: now });
const stateAfter = (after: ReturnType<typeof revised>) =>
  typeof after === "string" || "fault" in after
    ? after
    : { status: after.status, pausedBy: after.pausedBy, review: after.review };

const runs = { status: "active", pausedBy: null, review: "approved" };
const waits = { status: "paused", pausedBy: "review", review: "waiting" };
test.each([
  ["a name", { name: "Other" }, runs],
  ["a budget and a date", { dailyBudgetMicros: 50, endsAt: now }, runs],
  ["the landing page as it is", { landingUrl: "https://shop.test/" }, runs],
  ["another landing page", { landingUrl: "https://other.test/" }, waits],
  ["another call to action", { callToAction: "Buy" }, waits],
  ["other targets", { targeting: { languages: ["de"] } }, waits],
])("with %s, an approved campaign runs on or waits again, which is said before", (_what, changes, state) => {
  expect(stateAfter(revised(approved, changes, facts))).toEqual(state);
  expect(reviewEffects(approved, changes).map(({ effect }) => effect.code)).toEqual(
    state === waits ? ["REVIEWED_AGAIN"] : [],
  );
});

test("the bots that the operator has set stay, whatever an advertiser targets", () => {
  const targeting = { bots: ["7000000001"], languages: ["en"] };
  const after = revised(before({ review: "draft", targeting }), { targeting: { languages: ["de"] } }, facts);
  expect(after).toMatchObject({ targeting: { bots: ["7000000001"], languages: ["de"] } });
});

test.each([
  ["an approved price that is lowered", approved, { viewPriceMicros: 4 }, "ONLY_RAISED"],
  ["one that is raised", approved, { viewPriceMicros: 6 }, undefined],
  ["a price of a draft that is lowered", before({ review: "draft" }), { viewPriceMicros: 4 }, undefined],
  [
    "a price that was approved before a refusal",
    before({ review: "refused", approvedAt: now }),
    { clickPriceMicros: 4 },
    "ONLY_RAISED",
  ],
  ["a running budget within the money", approved, { totalBudgetMicros: 150 }, undefined],
  ["a running budget above the money", approved, { totalBudgetMicros: 151 }, "ABOVE_MONEY"],
  ["a waiting budget above the money", before({ review: "waiting" }), { totalBudgetMicros: 151 }, "ABOVE_MONEY"],
  ["a draft above the money", before({ review: "draft" }), { totalBudgetMicros: 151 }, undefined],
])("%s is refused or not", (_what, campaign, changes, code) => {
  const after = revised(campaign, changes, facts);
  expect(typeof after === "object" && "fault" in after ? after.fault.fault.code : undefined).toBe(code);
});

test("a draft is submitted with a video and within the money", () => {
  const code = (campaign: Campaign) => {
    const after = submitted(campaign, facts);
    return typeof after === "object" && "fault" in after ? after.fault.fault.code : stateAfter(after);
  };
  const draft = before({ review: "draft", status: "paused", pausedBy: "review" });
  expect(code(draft)).toEqual({ status: "paused", pausedBy: "review", review: "waiting" });
  expect(code({ ...draft, creatives: [] })).toBe("VIDEO_NEEDED");
  expect(code({ ...draft, totalBudgetMicros: 151 })).toBe("ABOVE_MONEY");
  expect([code({ ...draft, review: "waiting" }), code(approved), code(before({}))]).toEqual([
    "unchanged",
    "approved-already",
    "of-operator",
  ]);
});

test.each([
  ["review", { status: "active", pausedBy: null }],
  ["operator", { status: "paused", pausedBy: "operator" }],
  ["advertiser", { status: "paused", pausedBy: "advertiser" }],
] as const)("once approved, a campaign that is paused by %s", (pausedBy, state) => {
  const waiting = before({ review: "waiting", status: "paused", pausedBy });
  const decision = { decision: "approve", settings: { viewPriceMicros: 9 } } as const;
  expect(decided(waiting, decision, now)).toMatchObject({ ...state, viewPriceMicros: 9, approvedAt: now });
  expect(stateAfter(decided(waiting, { decision: "refuse", reason: "No page" }, now))).toEqual({
    status: "paused",
    pausedBy,
    review: "refused",
  });
});
