// @module-tag enlarged
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { readReportOf, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { updateBot } from "../bots/change-bot.ts";
import { migrations } from "../migrations.ts";
import { pruneVisitors } from "../retention/prune-visitors.ts";
import { directLinkRoutes } from "./routes.ts";

const most = process.env.LONG_TESTS === "true" ? 1000 : 120;

describe("clicks from one address", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  test(`of ${most} clicks within a day by a machine that follows links, 25 count; the others need a tap`, async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const address = newAddress();
    // Advances to midnight: the keys that hash addresses are valid for one day.
    fixture.advance(12 * 3600);
    const statuses = new Map<number, number>();
    for (let click = 0; click < most; click++) {
      const { status } = await fixture.visit(await fixture.issue(`8${click}`), { address });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      fixture.advance(86);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 200: most - 25, 302: 25 });
    expect(await fixture.events()).toHaveLength(25);
    expect(await fixture.refusals()).toEqual({ "tap-asked-address": most - 25 });
  }, 300_000);

  test("fifty people behind one address are all paid, with a tap if their clicks are too close together", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const address = newAddress();
    for (let person = 0; person < 50; person++) {
      const code = await fixture.issue(`9${person}`);
      const { status, body } = await fixture.visit(code, { address });
      if (status === 200) {
        expect(body).toContain(`action="/${code}"`);
        expect((await fixture.tap(await fixture.visit(code, { address }), { address })).status).toBe(303);
      }
      fixture.advance(7);
    }
    expect(await fixture.events()).toHaveLength(50);
    expect(await fixture.charges()).toHaveLength(50);
    expect(new Set((await fixture.viewers()).map(({ earned_today }) => earned_today))).toEqual(new Set([1]));
  });

  test("a tester's clicks count towards no limit of their address", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { maxDailyClicksPerAddress: 2 });
    const { bots, botId } = fixture;
    await updateBot(bots, { botId, settings: { testers: ["777"] }, now: new Date() });
    const address = newAddress();
    for (let click = 0; click < 5; click++)
      expect((await fixture.visit(await fixture.issue("777"), { address })).status).toBe(302);
    expect((await fixture.visit(await fixture.issue("778"), { address })).status).toBe(302);
    fixture.advance(61);
    expect((await fixture.visit(await fixture.issue("779"), { address })).status).toBe(302);
    fixture.advance(61);
    expect((await fixture.visit(await fixture.issue("780"), { address })).status).toBe(429);
  });

  test("above the operator's limit nothing counts; the visitor sees why and may continue; other addresses count", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, {
      maxDailyClicksPerAddress: 30,
      // Thirty users within one second would be held as a click farm's.
      suspiciousClicks: "pay",
    });
    const address = newAddress();
    fixture.advance(12 * 3600);
    const lateCode = await fixture.issue("698");
    const follow = async (code: string) => {
      const answer = await fixture.visit(code, { address });
      return answer.status === 200 ? fixture.tap(answer, { address }) : answer;
    };
    expect((await fixture.visit(await fixture.issue("600"), { address })).status).toBe(302);
    const page = await fixture.visit(lateCode, { address });
    for (let click = 1; click < 30; click++) {
      expect((await follow(await fixture.issue(`6${click}`))).status).toBe(303);
    }
    for (const visit of [() => fixture.visit(lateCode, { address }), () => fixture.tap(page, { address })]) {
      const { status, headers, body } = await visit();
      expect(status).toBe(429);
      expect(headers).toMatchObject({ "cache-control": "no-store", "x-robots-tag": "noindex, nofollow" });
      expect(body).toContain(`href="https://shop.test/p?c=clk_`);
      expect(body).toContain(`&amp;code=${lateCode}&amp;`);
      expect(body).not.toContain("<form");
    }
    expect(await fixture.events()).toHaveLength(30);
    expect(await fixture.charges()).toHaveLength(30);
    expect(await fixture.refusals()).toEqual({ "address-limit": 2, "tap-asked-address": 30 });
    await rollUpUntilNow(store.database);
    const days = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-04T00:00:00Z"), by: "day" as const };
    const { total } = await readReportOf(store.database, { botId: fixture.botId, ...days });
    expect(total).toMatchObject({ clicks: 30, clicksRefused: { "address-limit": 2, "tap-asked-address": 30 } });

    expect((await fixture.visit(await fixture.issue("699"))).status, "of another address").toBe(302);
    fixture.advance(24 * 3600);
    expect((await fixture.visit(await fixture.issue("699", "tomorrow"), { address })).status, "a day later").toBe(302);
  });

  const users = (count: number) => Array.from({ length: count }, (_, index) => String(10_000 + index));

  test.each([
    ["on one node", 1],
    ["on two nodes", 2],
  ])("a burst from one address %s counts no more than its limit; the others need a tap", async (_where, nodes) => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const address = newAddress();
    const codes = await Promise.all(users(200).map((user) => fixture.issue(user)));
    const burst = async (visited: readonly string[]) => {
      const answers = await Promise.all(visited.map((code, index) => fixture.visit(code, { address }, index % nodes)));
      return Object.fromEntries(
        [...Map.groupBy(answers, ({ status }) => status)].map(([status, all]) => [status, all.length]),
      );
    };
    expect(await burst(codes)).toEqual({ 302: 1, 200: 199 });
    expect(await fixture.events()).toHaveLength(1);
    expect(await fixture.charges()).toHaveLength(1);
    expect(await fixture.viewers()).toHaveLength(1);
    // A minute later one more counts, and then the last of three within ten minutes.
    const left = codes.slice(100);
    for (const [seconds, counted] of [
      [60, 1],
      [60, 1],
      [60, 0],
    ] as const) {
      fixture.advance(seconds);
      expect((await burst(left))[302] ?? 0).toBeGreaterThanOrEqual(counted);
    }
    expect(await fixture.events()).toHaveLength(3);
  });

  test("of a burst of taps from one address exactly as many count as the operator's setting allows", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { maxDailyClicksPerAddress: 5 });
    const address = newAddress();
    const codes = await Promise.all(users(128).map((user) => fixture.issue(user)));
    const pages = await Promise.all(codes.map((code, index) => fixture.visit(code, { address }, index % 2)));
    const tapPages = pages.filter(({ status }) => status === 200);
    expect([tapPages.length, await fixture.events()]).toMatchObject([127, { length: 1 }]);
    const answers = await Promise.all(tapPages.map((page, index) => fixture.tap(page, { address }, index % 2)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(4);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(123);
    expect(refused.every(({ body }) => body.includes('href="https://shop.test/p?c=clk_'))).toBe(true);
    expect(await fixture.events()).toHaveLength(5);
    expect(await fixture.charges()).toHaveLength(5);
    expect(await fixture.refusals()).toEqual({ "tap-asked-address": 127, "address-limit": 123 });
  });

  test("a simultaneous burst from two hundred addresses counts completely, without a tap", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const codes = await Promise.all(users(200).map((user) => fixture.issue(user)));
    const answers = await Promise.all(codes.map((code, index) => fixture.visit(code, {}, index % 2)));
    expect(answers.filter(({ status }) => status !== 302)).toEqual([]);
    expect(await fixture.events()).toHaveLength(200);
  });

  test("the limits apply across midnight, when the hash of an address changes", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const address = newAddress();
    const statuses: number[] = [];
    // Noon to 30 seconds before midnight, then on both sides of it.
    fixture.advance(12 * 3600 - 30);
    for (const seconds of [0, 20, 20, 30, 60, 60]) {
      fixture.advance(seconds);
      statuses.push((await fixture.visit(await fixture.issue(`5${statuses.length}`), { address })).status);
    }
    expect(statuses).toEqual([302, 200, 200, 302, 302, 200]);
  });

  test("a second click of a code that loses the race does not count towards the limits of its address", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { maxDailyClicksPerAddress: 2 });
    const address = newAddress();
    const [first, second] = [await fixture.issue("41"), await fixture.issue("42")];
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => fixture.visit(first, { address }, index % 2)),
    );
    expect(answers.filter(({ status }) => status === 429)).toEqual([]);
    fixture.advance(60);
    expect((await fixture.visit(second, { address })).status).toBe(302);
    expect(await fixture.events()).toHaveLength(2);
  });

  test("the record of an address is deleted when its limits have passed, and not before", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const left = () => store.database.run({ name: "", text: "select counted from address_days" }, []);
    while ((await pruneVisitors(store.database, { now: new Date("2027-01-01T00:00:00Z") })).hasMore);
    await fixture.visit(await fixture.issue("45"), { address: newAddress() });
    await pruneVisitors(store.database, { now: new Date("2026-03-02T23:59:59Z") });
    expect(await left()).toEqual([{ counted: 1 }]);
    await pruneVisitors(store.database, { now: new Date("2026-03-03T00:00:00Z") });
    expect(await left()).toEqual([]);
  });

  test("an address is recognised with a port, in brackets, mapped or in upper case", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes);
    const spellings = [
      ["203.0.113.7", "203.0.113.7:54321", "::ffff:203.0.113.7", "[::FFFF:203.0.113.7]:1"],
      ["2001:db8:9:9::1", "[2001:db8:9:9::1]:443", "2001:DB8:9:9::1", "2001:db8:9:9:ffff::2"],
    ];
    for (const [index, same] of spellings.entries()) {
      const statuses = [];
      for (const address of same) {
        const code = await fixture.issue(`44${index}${statuses.length}`);
        statuses.push((await fixture.visit(code, { address })).status);
      }
      expect(statuses).toEqual([302, 200, 200, 200]);
    }
  });

  test("a machine that can also tap earns no more than the daily cap for each user", async () => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { dailyCap: 5 });
    const address = newAddress();
    for (let click = 0; click < 40; click++) {
      const answer = await fixture.visit(await fixture.issue(`7${click % 2}`, `order ${click}`), { address });
      if (answer.status === 200) await fixture.tap(answer, { address });
    }
    expect(await fixture.events()).toHaveLength(10);
  });
});
