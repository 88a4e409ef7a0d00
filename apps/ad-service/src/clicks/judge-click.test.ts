import { runsToReachAll } from "@intermission/testing/property-seeds";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClickRefusal, ClickSuspicion, ClickVerdict, MachineReason, TapReason } from "./click-verdict.ts";
import { leadsToAd, refusalOf } from "./click-verdict.ts";
import { type Click, type ClickFacts, deviceOf, judgeClick, viewerOf } from "./judge-click.ts";
import { noUsers } from "./network-users.ts";
import type { JudgedVisit } from "./visit.ts";

const now = new Date("2026-03-01T12:00:00Z");
const before = (seconds: number) => new Date(now.getTime() - seconds * 1000);

/** A first click that counts. */
const firstClick: ClickFacts = {
  userId: "501",
  reference: null,
  issuedAt: before(30),
  expiresAt: before(-3600),
  bot: { isTester: false, isSuspended: false, cooldownSeconds: 60, dailyCap: 20, suspiciousClicks: "hold" },
  priceMicros: 1500,
  sharePercent: 70,
  currency: "USD",
  includeRevenue: false,
  userCap: null,
  seenAds: null,
  address: { clicks: [], viewers: [], counted: 0, tapped: 0, devices: [] },
  addressClicksBefore: [],
  network: noUsers,
  day: null,
  earnedToday: null,
  lastEarnedAt: null,
  decisions: 0,
  unfinished: { count: 0, lastActiveAt: null, firstDeadline: null },
  isUsed: false,
  usedCampaignId: null,
};

function clickOf(visit: Partial<JudgedVisit> = {}, click: Partial<Click> = {}): Click {
  const hash = "a".repeat(32);
  const bot = { botId: "910", category: null, timeZone: "UTC", blockedCategories: [], blockedAdvertisers: [] };
  return {
    visit: {
      code: "4Yabcdefghabcdefgh",
      visitor: { kind: "person" },
      tap: undefined,
      userAgent: "Mozilla/5.0",
      acceptLanguage: "en",
      hashes: { today: hash, yesterday: hash, network: hash },
      now,
      clickId: "clk_1",
      replacementCode: undefined,
      traceparent: null,
      request: { format: "direct_link", bot, user: {}, seen: new Map() },
      ...visit,
    },
    campaignId: "cmp_1",
    isNearLimit: false,
    network: { isStored: false, pending: noUsers },
    usualClicks: 0,
    ...click,
  };
}
const judge = (facts: Partial<ClickFacts> = {}, click = clickOf(), settings = {}) =>
  judgeClick({ ...firstClick, ...facts }, click, settings, now);
const bot = (settings: Partial<ClickFacts["bot"]>) => ({ bot: { ...firstClick.bot, ...settings } });
const doubtful = { visitor: { kind: "doubtful", reason: "scripted" } } as const;

/** One visit for each outcome: the compiler refuses a table that lacks one. */
const examples = {
  counted: () => judge(),
  held: () => judge({ issuedAt: before(0.9) }),
  suspicious: () => judge({ issuedAt: before(0.9), ...bot({ suspiciousClicks: "refuse" }) }),
  used: () => judge({ isUsed: true, usedCampaignId: "cmp_0" }),
  limited: () => judge({ day: "2026-03-01", earnedToday: 1, lastEarnedAt: before(59), decisions: 1 }),
  machine: () => judge({}, clickOf({ visitor: { kind: "machine", reason: "head" } })),
  "tap-needed": () => judge({}, clickOf(doubtful)),
  expired: () => judge({ expiresAt: now }),
  "bot-suspended": () => judge(bot({ isSuspended: true })),
  "no-ad": () => judge({}, clickOf({}, { campaignId: undefined })),
  "address-limit": () =>
    judge({ address: { ...firstClick.address, counted: 5 } }, clickOf(), { maxDailyClicksPerAddress: 5 }),
  "unknown-code": () => judge({ userId: null, expiresAt: null }),
  "user-cap": () => judge({ userCap: 2, seenAds: 2 }),
  "near-limit": () => judge({}, clickOf({}, { isNearLimit: true })),
  // Only a batch finds it: what was read has changed when it is written.
  again: (): ClickVerdict => ({ outcome: "again" }),
} satisfies Record<ClickVerdict["outcome"], () => ClickVerdict>;

const allRefusals = {
  cooldown: true,
  "daily-cap": true,
  used: true,
  expired: true,
  "bot-suspended": true,
  "no-ad": true,
  "address-limit": true,
  "machine-head": true,
  "machine-prefetch": true,
  "machine-empty-agent": true,
  "machine-crawler": true,
  "machine-library": true,
  "tap-asked-address": true,
  "tap-asked-embedded": true,
  "tap-asked-scripted": true,
  "tap-asked-no-language": true,
  "tap-asked-foreign-form": true,
  "tap-asked-no-token": true,
  "tap-asked-crawler-like": true,
  "tap-asked-unknown-agent": true,
  held: true,
  suspicious: true,
} satisfies Record<Exclude<ClickRefusal, "operator">, true>;
const allSuspicions = {
  "many-users-of-one-address": true,
  "crowded-network": true,
  "many-users-of-one-agent": true,
  "mostly-taps": true,
  "right-after-issue": true,
  "address-changed": true,
  "tap-unconfirmed": true,
} satisfies Record<ClickSuspicion, true>;

describe("what becomes of a visit", () => {
  test.each(Object.entries(examples))("a visit can be %s", (outcome, example) => {
    expect(example().outcome).toBe(outcome);
  });

  test("a visit is judged by the first rule that applies, in the order in which its visitor learns about them", () => {
    const inOrder: [Partial<ClickFacts>, Partial<JudgedVisit>, Partial<Click>, ClickVerdict["outcome"]][] = [
      [{ userId: null }, {}, {}, "unknown-code"],
      [{}, { visitor: { kind: "machine", reason: "crawler" } }, {}, "machine"],
      [{ isUsed: true }, {}, {}, "used"],
      [{ expiresAt: now }, {}, {}, "expired"],
      [bot({ isSuspended: true, dailyCap: 1 }), {}, {}, "bot-suspended"],
      [{ ...bot({ dailyCap: 1 }), day: "2026-03-01", earnedToday: 1 }, {}, {}, "limited"],
      [{}, {}, { campaignId: undefined }, "no-ad"],
      [{ userCap: 1, seenAds: 1 }, {}, {}, "user-cap"],
      [{ address: { ...firstClick.address, counted: 9 } }, {}, {}, "address-limit"],
      [{}, doubtful, {}, "tap-needed"],
      [{}, {}, { isNearLimit: true }, "near-limit"],
      [{ issuedAt: now }, {}, {}, "held"],
    ];
    // Each is judged with the faults of all later ones, too.
    for (const [index, [, , , outcome]] of inOrder.entries()) {
      const later = inOrder.slice(index).toReversed();
      const facts = Object.assign({}, ...later.map(([facts]) => facts));
      const visit = Object.assign({}, ...later.map(([, visit]) => visit));
      const click = Object.assign({}, ...later.map(([, , click]) => click));
      expect(judge(facts, clickOf(visit, click), { maxDailyClicksPerAddress: 9 }).outcome).toBe(outcome);
    }
  });

  const instant = fc.integer({ min: -200_000, max: 90_000 }).map((second) => before(second));
  const anyFacts: fc.Arbitrary<ClickFacts> = fc.record({
    userId: fc.option(fc.constantFrom("501", "502")),
    reference: fc.constant(null),
    issuedAt: instant,
    expiresAt: instant,
    bot: fc.record({
      isTester: fc.boolean(),
      isSuspended: fc.boolean(),
      cooldownSeconds: fc.constantFrom(0, 60),
      dailyCap: fc.integer({ min: 1, max: 5 }),
      suspiciousClicks: fc.constantFrom("pay" as const, "hold-farms" as const, "hold" as const, "refuse" as const),
    }),
    priceMicros: fc.constant(1500),
    sharePercent: fc.constant(70),
    currency: fc.constant("USD"),
    includeRevenue: fc.constant(false),
    userCap: fc.option(fc.constantFrom(1, 2)),
    seenAds: fc.integer({ min: 0, max: 2 }),
    address: fc.record({
      clicks: fc.array(instant, { maxLength: 25 }),
      viewers: fc.constant([]),
      counted: fc.integer({ min: 0, max: 40 }),
      tapped: fc.integer({ min: 0, max: 40 }),
      devices: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), { maxLength: 100 }),
    }),
    addressClicksBefore: fc.array(instant, { maxLength: 25 }),
    network: fc.record({
      users: fc.integer({ min: 0, max: 600 }),
      minute: fc.option(instant),
      minuteUsers: fc.integer({ min: 0, max: 60 }),
    }),
    day: fc.option(fc.constantFrom("2026-02-28", "2026-03-01", "2026-03-02", "2026-03-09")),
    earnedToday: fc.integer({ min: 0, max: 6 }),
    lastEarnedAt: fc.option(instant),
    decisions: fc.nat({ max: 3 }),
    unfinished: fc.record({
      count: fc.nat({ max: 2 }),
      lastActiveAt: fc.option(instant),
      firstDeadline: fc.option(instant),
    }),
    isUsed: fc.boolean(),
    usedCampaignId: fc.option(fc.constant("cmp_0")),
  });
  const machineReasons = ["head", "prefetch", "empty-agent", "crawler", "library"] as const satisfies MachineReason[];
  const doubts = {
    embedded: true,
    scripted: true,
    "no-language": true,
    "foreign-form": true,
    "no-token": true,
    "crawler-like": true,
    "unknown-agent": true,
  } satisfies Record<Exclude<TapReason, "address">, true>;
  const anyClick = fc.record({
    visitor: fc.oneof(
      fc.constant({ kind: "person" as const }),
      fc.record({ kind: fc.constant("machine" as const), reason: fc.constantFrom(...machineReasons) }),
      fc.record({
        kind: fc.constant("doubtful" as const),
        reason: fc.constantFrom(...(Object.keys(doubts) as (keyof typeof doubts)[])),
      }),
    ),
    isTap: fc.boolean(),
    isNearLimit: fc.boolean(),
    usualClicks: fc.constantFrom(0, 1000),
    campaignId: fc.option(fc.constant("cmp_1"), { nil: undefined }),
  });

  test("no click is paid of a machine, a spent or expired code, a suspended bot, or beyond cap, cooldown and limits", () => {
    fc.assert(
      fc.property(anyFacts, anyClick, ({ ...facts }, { visitor, isTap, ...click }) => {
        const tap = isTap ? { suspicion: undefined } : undefined;
        const verdict = judge(facts, clickOf({ visitor, tap }, click), { maxDailyClicksPerAddress: 30 });
        if (verdict.outcome !== "counted") return;
        expect(visitor.kind === "machine" || facts.isUsed || facts.bot.isSuspended).toBe(false);
        expect(facts.expiresAt?.getTime()).toBeGreaterThan(now.getTime());
        expect(facts.address.counted).toBeLessThan(30);
        expect(visitor.kind === "person" || isTap).toBe(true);
        expect(facts.userCap === null || (facts.seenAds ?? 0) < facts.userCap).toBe(true);
        const today = facts.day !== null && facts.day >= "2026-03-01" && facts.day < "2026-03-09";
        expect((today ? (facts.earnedToday ?? 0) : 0) + facts.unfinished.count).toBeLessThan(facts.bot.dailyCap);
        expect(click.isNearLimit && !facts.bot.isTester).toBe(false);
        const unpaid = {
          pay: false,
          "hold-farms": verdict.suspicions.includes("many-users-of-one-address"),
          hold: true,
          refuse: true,
        };
        expect(verdict.suspicions.length > 0 && unpaid[facts.bot.suspiciousClicks]).toBe(false);
      }),
      { numRuns: runsToReachAll(2000) },
    );
  });

  /** Mostly clicks without a fault, so that the last rules are reached, too; `users` of one agent came from the address. */
  const usualFacts = fc.record({ users: fc.nat({ max: 12 }), facts: anyFacts }).map(({ users, facts }): ClickFacts => {
    const { visit } = clickOf();
    const others = Array.from({ length: users }, (_, index) => String(600 + index));
    return {
      ...facts,
      ...bot({ ...facts.bot, isTester: false, isSuspended: false, dailyCap: 20 }),
      userId: "501",
      expiresAt: before(-3600),
      isUsed: false,
      day: null,
      lastEarnedAt: null,
      unfinished: { count: 0, lastActiveAt: null, firstDeadline: null },
      userCap: null,
      address: {
        ...facts.address,
        clicks: others.map(() => before(1)),
        viewers: others.map((user) => viewerOf(visit, user)),
        devices: others.map((user) => deviceOf(visit, user)),
      },
    };
  });
  const tap = fc.option(
    fc.record({ suspicion: fc.constantFrom("address-changed" as const, "tap-unconfirmed" as const, undefined) }),
    { nil: undefined },
  );

  test("any facts reach every verdict, every refusal and every suspicion", () => {
    const [verdicts, refusals, suspicions] = [new Set<string>(["again"]), new Set<string>(), new Set<string>()];
    fc.assert(
      fc.property(fc.oneof(anyFacts, usualFacts), anyClick, tap, (facts, { visitor, isTap: _, ...click }, tap) => {
        const verdict = judge(facts, clickOf({ visitor, tap }, click), { maxDailyClicksPerAddress: 30 });
        verdicts.add(verdict.outcome);
        const refusal = refusalOf(verdict);
        if (refusal !== undefined) refusals.add(refusal);
        if (leadsToAd(verdict)) for (const suspicion of verdict.suspicions) suspicions.add(suspicion);
      }),
      { numRuns: runsToReachAll(4000) },
    );
    expect([...verdicts].toSorted()).toEqual(Object.keys(examples).toSorted());
    expect([...refusals].toSorted()).toEqual(Object.keys(allRefusals).toSorted());
    expect([...suspicions].toSorted()).toEqual(Object.keys(allSuspicions).toSorted());
  });

  test("every verdict leads to an ad, is counted as a refusal, or leaves nothing behind", () => {
    const kinds = Object.values(examples).map((example) => {
      const verdict = example();
      return [verdict.outcome, leadsToAd(verdict), refusalOf(verdict) ?? "-"];
    });
    expect(kinds).toEqual([
      ["counted", true, "-"],
      ["held", true, "held"],
      ["suspicious", true, "suspicious"],
      ["used", false, "used"],
      ["limited", false, "cooldown"],
      ["machine", false, "machine-head"],
      ["tap-needed", false, "tap-asked-scripted"],
      ["expired", false, "expired"],
      ["bot-suspended", false, "bot-suspended"],
      ["no-ad", false, "no-ad"],
      ["address-limit", false, "address-limit"],
      ["unknown-code", false, "-"],
      ["user-cap", false, "-"],
      ["near-limit", false, "-"],
      ["again", false, "-"],
    ]);
  });
});
