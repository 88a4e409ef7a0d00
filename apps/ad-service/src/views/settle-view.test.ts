import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { limitOfViewer, noUnfinishedViews } from "../viewers/limit-of-viewer.ts";
import type { AdView } from "./ad-view.ts";
import { endStateOf, settleView, type ViewDecision, type ViewerFacts, viewAfter, viewerAfter } from "./settle-view.ts";
import type { ViewChange } from "./view-change.ts";

const now = new Date("2026-03-01T12:00:00Z");
const at = (second: number) => new Date(now.getTime() + second * 1000);

const facts: ViewerFacts = {
  day: "2026-03-01",
  earnedToday: 1,
  lastEarnedAt: at(-3600),
  cooldownSeconds: 60,
  dailyCap: 3,
  decisions: 4,
  clockHolderId: "7-view",
  creditedUntil: at(-20),
  unfinished: { count: 0, lastActiveAt: null, firstDeadline: null },
  isBotSuspended: false,
  sendsInterstitials: false,
  sendsClientNotes: false,
  interstitialSeconds: 60,
  lastInterstitialAt: null,
  priceMicros: 2500,
  sharePercent: 70,
  currency: "USD",
  includeRevenue: false,
};

const view: AdView = {
  botId: "7",
  viewId: "7-view",
  code: "code",
  userId: "1",
  reference: "",
  startParam: null,
  clientNote: null,
  campaignId: "cmp",
  creativeId: "crt",
  isVast: false,
  isTest: false,
  format: "rewarded",
  skipAfterMs: null,
  chargedAfterMs: null,
  durationMs: 10_000,
  openedAt: at(-15),
  deadline: at(600),
  failedCreatives: [],
  tokenHash: "",
  openings: 1,
  firstSequence: 0,
  fault: null,
  faultAt: null,
  version: 2,
  state: "watched",
  acceptedMs: 10_000,
  clockMs: 10_000,
  progress: { covered: [], sequences: [], refusals: {} },
  signals: null,
  startedAt: at(-12),
  lastReportAt: at(-1),
  watchedAt: at(-1),
  chargedAt: null,
  closeRequestedAt: null,
  closeReason: "tap",
  pendingReports: null,
  dueAt: at(14),
  creditedUntil: at(-1),
  clockHolderId: "7-view",
  clockHolderVersion: 2,
  viewerCreditedUntil: at(-20),
};

const playing: AdView = { ...view, state: "playing", watchedAt: null, dueAt: null };

const ended = (fate: "pay" | "hold" | "refuse", other: Partial<ViewChange> = {}): ViewChange => ({
  before: view,
  after: view,
  isStart: false,
  milestones: [],
  now,
  ending: { fate, suspicions: fate === "pay" ? [] : ["no-frames"], eventId: "evt", traceparent: null },
  ...other,
});
const started: ViewChange = { before: view, after: view, isStart: true, milestones: ["start"], now };

describe("the start and the end of a view", () => {
  const justEarned = { ...facts, lastEarnedAt: at(-10) };
  test.each<[string, ViewChange, ViewerFacts, ViewDecision]>([
    ["neither", { ...started, isStart: false }, justEarned, { outcome: "continues" }],
    ["a start", started, facts, { outcome: "starts" }],
    ["a start in the cooldown", started, justEarned, { outcome: "limited", reason: "cooldown", availableAt: at(50) }],
    [
      "a start beside a view that may use up the cap",
      started,
      { ...facts, dailyCap: 2, unfinished: { count: 1, lastActiveAt: at(-300), firstDeadline: at(30) } },
      { outcome: "limited", reason: "daily-cap", availableAt: at(30) },
    ],
    ["a start of a suspended bot", started, { ...facts, isBotSuspended: true }, { outcome: "bot-suspended" }],
    ["an end", ended("pay"), facts, { outcome: "rewarded" }],
    [
      "an end of a bot that was suspended meanwhile",
      ended("pay"),
      { ...facts, isBotSuspended: true },
      { outcome: "rewarded" },
    ],
    [
      "an end beside another view, which was judged beside it",
      ended("pay"),
      { ...facts, unfinished: { count: 5, lastActiveAt: at(-1), firstDeadline: at(30) } },
      { outcome: "rewarded" },
    ],
    ["a suspicious end that is held", ended("hold"), facts, { outcome: "held" }],
    ["a suspicious end that is refused", ended("refuse"), facts, { outcome: "refused" }],
    ["an end in the cooldown", ended("pay"), justEarned, { outcome: "deferred", reason: "cooldown", until: at(50) }],
    [
      "an end in a cooldown that outlasts the view, with the call that completes it",
      ended("pay", { before: playing, after: { ...view, deadline: at(49) } }),
      justEarned,
      { outcome: "refused-by-limit", reason: "cooldown" },
    ],
    [
      "an end in a cooldown that outlasts the view, after its player was told that it is watched",
      ended("pay", { after: { ...view, deadline: at(49) } }),
      justEarned,
      { outcome: "deferred", reason: "cooldown", until: at(50) },
    ],
    [
      "an end after the day's last reward, with the call that completes the view",
      ended("hold", { before: playing }),
      { ...facts, earnedToday: 3 },
      { outcome: "refused-by-limit", reason: "daily-cap" },
    ],
    [
      "an end after the day's last reward, after the player was told",
      ended("hold"),
      { ...facts, earnedToday: 3 },
      { outcome: "deferred", reason: "daily-cap", until: new Date("2026-03-02T00:00:00Z") },
    ],
    [
      "a start that is an end, too, in the cooldown",
      ended("pay", { isStart: true }),
      justEarned,
      { outcome: "limited", reason: "cooldown", availableAt: at(50) },
    ],
  ])("%s", (_what, change, of, decision) => expect(settleView(change, of)).toEqual(decision));
});

describe("what is stored", () => {
  test("a view that earns ends, counts for its viewer, and releases the clock with the time it was credited", () => {
    const change = ended("pay");
    expect(viewAfter(change, { outcome: "rewarded" })).toMatchObject({ state: "rewarded", dueAt: null, version: 3 });
    expect(viewerAfter(change, { outcome: "rewarded" }, facts)).toEqual({
      decisions: 5,
      earnings: { day: "2026-03-01", earnedToday: 2, lastEarnedAt: now },
      clock: { kind: "released", creditedUntil: at(-1) },
    });
    const other = { ...facts, clockHolderId: "7-other" };
    expect(viewerAfter(change, { outcome: "rewarded" }, other)).not.toHaveProperty("clock");
  });

  test("a close that waits keeps when it was first asked for, and changes nothing of its viewer", () => {
    const decision: ViewDecision = { outcome: "deferred", reason: "cooldown", until: at(50) };
    expect(viewAfter(ended("pay"), decision)).toMatchObject({ state: "watched", closeRequestedAt: now, dueAt: at(50) });
    const again = ended("pay", { before: { ...view, closeRequestedAt: at(-5) } });
    expect(viewAfter(again, decision)).toMatchObject({ closeRequestedAt: at(-5) });
    expect(viewerAfter(again, decision, facts)).toEqual({});
  });

  test("a view that a limit refuses counts for no limit, and its refusal is counted with its reason", () => {
    const decision: ViewDecision = { outcome: "refused-by-limit", reason: "daily-cap" };
    expect(viewAfter(ended("pay"), decision)).toMatchObject({
      state: "refused",
      progress: { refusals: { "daily-cap": 1 } },
    });
    expect(viewerAfter(ended("pay"), decision, facts)).toEqual({});
    expect(endStateOf(decision)).toBe("refused");
  });

  test("a view that starts takes the clock from the view that holds it", () => {
    const change = { ...started, before: { ...view, clockHolderId: "7-other" } };
    expect(viewAfter(change, { outcome: "starts" })).toMatchObject({ clockHolderId: "7-view" });
    expect(viewerAfter(change, { outcome: "starts" }, facts)).toEqual({ decisions: 5, clock: { kind: "taken" } });
  });
});

test("any change is decided within the viewer's limits, reaches every decision, and only what earns counts for its viewer", () => {
  const instant = fc.integer({ min: -90_000, max: 90_000 }).map(at);
  const anyViewer = fc.record({
    day: fc.option(fc.constantFrom("2026-02-28", "2026-03-01")),
    earnedToday: fc.integer({ min: 0, max: 4 }),
    lastEarnedAt: fc.option(instant),
    cooldownSeconds: fc.constantFrom(0, 60, 3600),
    dailyCap: fc.integer({ min: 1, max: 4 }),
    isBotSuspended: fc.boolean(),
    unfinished: fc.record({
      count: fc.nat({ max: 2 }),
      lastActiveAt: fc.option(instant),
      firstDeadline: fc.option(instant),
    }),
  });
  const anyChange = fc.record({
    fate: fc.option(fc.constantFrom("pay" as const, "hold" as const, "refuse" as const)),
    isCharged: fc.boolean(),
    isStart: fc.boolean(),
    isShownAsWatched: fc.boolean(),
    deadline: instant,
  });
  const fates = { pay: "rewarded", hold: "held", refuse: "refused" };
  const seen = new Set<string>();
  fc.assert(
    fc.property(anyViewer, anyChange, (viewer, { fate, isCharged, isStart, isShownAsWatched, deadline }) => {
      const of = { ...facts, ...viewer };
      const { ending, ...others } = ended(fate ?? "pay", {
        isStart,
        before: isShownAsWatched ? view : playing,
        after: { ...view, deadline },
      });
      const charged = isCharged ? { ...others, charge: ending } : others;
      const change: ViewChange = fate === null ? charged : { ...others, ending };
      const decision = settleView(change, of);
      const state = endStateOf(decision);
      seen.add("reason" in decision ? `${decision.outcome} ${decision.reason}` : decision.outcome);

      const limit = limitOfViewer(of, isStart ? of.unfinished : noUnfinishedViews, of, now);
      const isLimited = limit.outcome === "limited";
      const isSuspended = isStart && of.isBotSuspended;
      expect(decision.outcome === "bot-suspended").toBe(isSuspended);
      if (fate !== null && !isLimited && !isSuspended) expect(decision.outcome).toBe(fates[fate]);
      const { outcome } = decision;
      if (outcome === "starts" || outcome === "rewarded") expect(isLimited).toBe(false);
      if (outcome === "charged")
        expect(viewAfter(change, decision)).toMatchObject({ state: "watched", chargedAt: now });
      // No limit refuses a view whose player has shown it as watched.
      if (decision.outcome === "refused-by-limit") expect(isShownAsWatched).toBe(false);
      if (decision.outcome === "deferred") expect(decision.until.getTime()).toBeGreaterThan(now.getTime());
      expect(viewAfter(change, decision).state).toBe(state ?? view.state);
      const counts = viewerAfter(change, decision, of).earnings !== undefined;
      expect(counts).toBe(fate !== null && decision.outcome === fates[fate]);
    }),
    { numRuns: runsToReachAll(2000) },
  );
  const reasons = ["cooldown", "daily-cap"];
  const outcomes = {
    continues: ["continues"],
    starts: ["starts"],
    charged: ["charged"],
    limited: reasons.map((reason) => `limited ${reason}`),
    "bot-suspended": ["bot-suspended"],
    rewarded: ["rewarded"],
    held: ["held"],
    refused: ["refused"],
    "refused-by-limit": reasons.map((reason) => `refused-by-limit ${reason}`),
    deferred: reasons.map((reason) => `deferred ${reason}`),
  } satisfies Record<ViewDecision["outcome"], string[]>;
  expect([...seen].toSorted()).toEqual(Object.values(outcomes).flat().toSorted());
});
