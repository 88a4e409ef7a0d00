import type { CodeVerdict, TimelineDetail, TimelineEntry, TimelineStep } from "@intermission/operator-api/timeline";
import { expect, test } from "vitest";
import { outcomesOf, verdictOfCode } from "./code-verdict.ts";

type Fact = [step: TimelineStep, ...details: TimelineDetail[]];

/** Entries of a code, a second apart. */
function entries(facts: readonly Fact[], { code = "a", from = 0 }: { code?: string | null; from?: number } = {}) {
  return facts.map(([step, ...details], index): TimelineEntry => {
    const at = new Date(Date.UTC(2026, 2, 1) + (from + index) * 1000);
    const id = step.startsWith("webhook") || step === "earned" || step === "refunded" ? "evt_1" : null;
    return { at, step, code, id, campaignId: null, creativeId: null, amountMicros: null, details };
  });
}

const opened: Fact[] = [["code-issued"], ["ad-requested", { kind: "filled" }], ["view-opened"]];
const played: Fact[] = [...opened, ["view-started"]];
const watched: Fact[] = [...played, ["view-watched"]];
const closed = (state: "rewarded" | "held" | "refused"): Fact => ["view-closed", { kind: "view-state", state }];
const earned = (state: "waiting" | "failed" | "held" | "delivered"): Fact[] => [
  ...watched,
  closed("rewarded"),
  ["earned", { kind: "webhook", state, endReason: null }],
];
const review = (decision: "released" | "refused"): Fact => ["reviewed", { kind: "decision", decision }];

test.each<[verdict: CodeVerdict, facts: Fact[]]>([
  ["unused", [["code-issued"]]],
  ["request-refused", [["code-issued"], ["ad-requested", { kind: "request-refused", reason: "init-data-expired" }]]],
  ["limited", [["code-issued"], ["ad-requested", { kind: "limited", reason: "daily-cap" }]]],
  ["no-ad", [["code-issued"], ["ad-requested", { kind: "no-ad", reason: "no-campaign" }]]],
  ["not-started", opened],
  ["left-early", [...played, ["view-closed", { kind: "view-state", state: "playing" }]]],
  ["not-closed", [...watched, ["view-closed", { kind: "not-closed" }, { kind: "view-state", state: "watched" }]]],
  ["held", [...watched, closed("held")]],
  ["refused", [...watched, closed("refused")]],
  ["refused", [...watched, closed("held"), review("refused")]],
  ["click-not-counted", [["code-issued"], ["click-not-counted", { kind: "visit-refused", reason: "machine-crawler" }]]],
  ["click-not-counted", [...played, ["click-not-counted", { kind: "visit-refused", reason: "no-ad" }]]],
  ["held", [["code-issued"], ["click-held"]]],
  ["refused", [["code-issued"], ["click-refused"]]],
  ["refused", [["code-issued"], ["click-held"], review("refused")]],
  ["webhook-waiting", earned("waiting")],
  ["webhook-waiting", [...earned("waiting"), ["webhook-failed"]]],
  ["webhook-waiting", earned("held")],
  ["webhook-failed", [...earned("failed"), ["webhook-failed"]]],
  ["paid", earned("delivered")],
  ["paid", [...earned("failed"), ["webhook-failed"], ["webhook-answered"]]],
  ["earned", [...watched, closed("rewarded"), ["earned"]]],
  ["refunded", [...earned("delivered"), ["webhook-answered"], ["refunded"]]],
  // Released by a reviewer: it earned.
  ["paid", [...watched, closed("held"), review("released"), ["earned"], ["webhook-answered"]]],
])("a code is %s", (verdict, facts) => {
  expect(verdictOfCode(entries(facts))).toBe(verdict);
});

test("the codes of a user stand in the order of what happened to them last, requests without a code among them", () => {
  const all = [
    ...entries(earned("delivered"), { code: "first" }),
    ...entries([["code-issued"]], { code: "second", from: 2 }),
    ...entries([["ad-requested", { kind: "request-refused", reason: "code-malformed" }]], { code: null, from: 60 }),
  ].toSorted((a, b) => a.at.getTime() - b.at.getTime());
  expect(outcomesOf(all)).toEqual([
    { code: null, verdict: "request-refused" },
    { code: "first", verdict: "paid" },
    { code: "second", verdict: "unused" },
  ]);
});
