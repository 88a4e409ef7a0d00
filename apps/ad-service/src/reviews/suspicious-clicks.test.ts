import type { ClickState } from "@intermission/operator-api/reviews";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture, type VisitAnswer } from "../../test/fixtures/direct-link-fixture.ts";
import { readReportOf, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { directLinkRoutes } from "../clicks/routes.ts";
import { describeCode } from "../codes/describe-code.ts";
import { migrations } from "../migrations.ts";
import { listClicks } from "./list-clicks.ts";
import { refundClick, refuseClick, releaseClick } from "./review-clicks.ts";

const now = new Date("2026-03-01T13:00:00Z");

describe("suspicious clicks", () => {
  let store: TestDatabase;
  const deps = () => ({ database: store.database, makePartitions: async () => {} });
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  type Policy = "pay" | "hold" | "refuse";
  async function open(suspiciousClicks: Policy = "pay", settings: Parameters<typeof openDirectLinkFixture>[2] = {}) {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, { suspiciousClicks, ...settings });
  }
  const list = async (state?: ClickState) =>
    (await listClicks(store.database, { botId: fixture.botId, state, limit: 1000 })).rows;
  const issueMany = (count: number, first = 1000) =>
    Promise.all(Array.from({ length: count }, (_, user) => fixture.issue(String(first + user))));
  /** Acts like a script that reads our page: fetches it, and posts what the form contains. */
  async function pass(code: string, address: string, node = 0): Promise<VisitAnswer> {
    const answer = await fixture.visit(code, { address }, node);
    return answer.status === 200 ? fixture.tap(answer, { address }, node) : answer;
  }
  const numbers = async () => {
    await rollUpUntilNow(store.database);
    const time = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-03T00:00:00Z"), by: "day" as const };
    return (await readReportOf(store.database, { botId: fixture.botId, ...time })).total;
  };
  const ofCampaign = () =>
    store.database.run<{ clicks: number; spent: number }>(
      { name: "", text: "select clicks, spent_micros as spent from campaign_days where campaign_id = $1" },
      [fixture.campaignId],
    );

  test("sixty invented users with one phone and one address are limited by the address limit, and listed", async () => {
    await open("pay", { maxDailyClicksPerAddress: 25 });
    const address = newAddress();
    const codes = await issueMany(60);
    fixture.advance(5);
    const answers = await Promise.all(codes.map((code, index) => pass(code, address, index % 2)));
    expect(answers.filter(({ status }) => status === 302 || status === 303)).toHaveLength(25);
    expect(await fixture.charges()).toHaveLength(25);
    // Those from the sixth user on are marked, however parallel they are.
    const marked = (await list()).filter(({ suspicions }) => suspicions.includes("many-users-of-one-agent"));
    expect(marked).toHaveLength(20);
    expect(new Set(marked.map((click) => click.address)).size).toBe(1);
    expect((await list()).filter(({ suspicions }) => suspicions.includes("mostly-taps")).length).toBeGreaterThan(10);
  });

  test("if suspicious clicks are held, sixty invented users earn as much as five", async () => {
    await open("hold");
    const address = newAddress();
    const codes = await issueMany(60);
    fixture.advance(5);
    const answers = await Promise.all(codes.map((code, index) => pass(code, address, index % 2)));
    expect(answers.filter(({ status }) => status !== 302 && status !== 303)).toEqual([]);
    expect(await fixture.events()).toHaveLength(5);
    expect(await fixture.charges()).toHaveLength(5);
    expect(await list("held")).toHaveLength(55);
    expect(await numbers()).toMatchObject({ clicks: 5, clicksRefused: { held: 55 }, spendMicros: 7500n });
  });

  test("a person who follows links all day from one phone is not marked", async () => {
    await open("refuse", { dailyCap: 100 });
    const address = newAddress();
    for (let click = 0; click < 20; click++) {
      const code = await fixture.issue("501", `order ${click}`);
      fixture.advance(30);
      expect([302, 303]).toContain((await pass(code, address)).status);
      fixture.advance(1800);
    }
    expect(await fixture.events()).toHaveLength(20);
    expect((await list()).filter(({ suspicions }) => suspicions.some((one) => one !== "mostly-taps"))).toEqual([]);
  });

  test("a click within a second of its code is marked, a later one is not", async () => {
    await open();
    const [fast, slow] = [await fixture.issue("501"), await fixture.issue("502")];
    fixture.advance(0.9);
    await fixture.visit(fast);
    fixture.advance(0.1);
    await fixture.visit(slow);
    expect(await list()).toMatchObject([{ userId: "501", suspicions: ["right-after-issue"], state: "counted" }]);
  });

  test.each([
    ["IPv4 /24", (host: number) => `100.64.7.${host}`],
    ["IPv6 /56", (host: number) => `2001:db8:64:${host}::1`],
  ])("more than thirty users of one network (%s) within a day are marked", async (_what, addressOf) => {
    await open();
    const codes = await issueMany(40);
    fixture.advance(5);
    for (const [host, code] of codes.entries()) await fixture.visit(code, { address: addressOf(host + 1) });
    const marked = await list();
    expect(marked.map(({ userId }) => userId).sort()).toEqual(Array.from({ length: 10 }, (_, last) => `103${last}`));
    expect(new Set(marked.flatMap(({ suspicions }) => suspicions))).toEqual(new Set(["crowded-network"]));
    expect(new Set(marked.map(({ network }) => network)).size).toBe(1);
    expect(new Set(marked.map(({ address }) => address)).size).toBe(10);
  });

  test("a held click is not paid, uses up its viewer's quota and its code, and is paid once when it is released", async () => {
    await open("hold", { cooldownSeconds: 60 });
    const code = await fixture.issue("501", "order 7");
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.visit(code, {}, index % 2)));
    // Its visitor reaches the landing page, also when the link is opened again.
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    expect((await fixture.visit(code)).headers.location).toContain("https://shop.test/p?");
    expect([await fixture.events(), await fixture.charges()]).toEqual([[], []]);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect(await fixture.issue("501", "order 7")).not.toBe(code);
    expect((await fixture.visit(await fixture.issue("501", "order 8"))).status).toBe(429);
    const [held, ...others] = await list("held");
    expect(others).toEqual([]);
    const clickId = held?.clickId ?? "";

    const release = () => releaseClick(deps(), { clickId, now });
    const released = await Promise.all([1, 2, 3].map(release));
    expect(released.map(({ outcome }) => outcome).sort()).toEqual(["not-held", "not-held", "released"]);
    expect(await refuseClick(store.database, { clickId, now })).toEqual({ outcome: "not-held", state: "counted" });
    const [event] = await fixture.events();
    expect(JSON.parse(event?.body ?? "")).toMatchObject({
      event: "direct_link",
      user_tg_id: "501",
      reference: "order 7",
    });
    expect(await fixture.charges()).toHaveLength(1);
    expect(await ofCampaign()).toEqual([{ clicks: 1, spent: 1500 }]);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect(await numbers()).toMatchObject({ clicks: 1, clicksRefused: { held: 1 } });
    const described = await describeCode(store.database, { botId: fixture.botId, code, now });
    expect(described).toMatchObject({ code: { clicks: { counted: 1, held: 1 } } });
  });

  test("a held click whose code has earned a click meanwhile is not released, and can still be refused", async () => {
    await open("hold");
    const code = await fixture.issue();
    await fixture.visit(code);
    const clickId = (await list("held"))[0]?.clickId ?? "";
    await store.database.run(
      {
        name: "",
        text: `with earned as (
            insert into events (event_id, bot_id, event, user_id, code, occurred_at)
            select 'evt_' || gen_random_uuid(), bot_id, 'direct_link', user_id, code, now() from codes where code = $1
            returning event_id, bot_id
          )
          insert into event_bodies (event_id, bot_id, body) select event_id, bot_id, '' from earned`,
      },
      [code],
    );
    expect(await releaseClick(deps(), { clickId, now })).toEqual({ outcome: "not-held", state: "used" });
    expect(await refuseClick(store.database, { clickId, now })).toEqual({ outcome: "refused" });
    expect(await fixture.events()).toHaveLength(1);
  });

  test("a held click that is refused never earns", async () => {
    await open("hold");
    const code = await fixture.issue();
    await fixture.visit(code);
    const clickId = (await list("held"))[0]?.clickId ?? "";
    const refusals = await Promise.all([1, 2].map(() => refuseClick(store.database, { clickId, now })));
    expect(refusals.map(({ outcome }) => outcome).sort()).toEqual(["not-held", "refused"]);
    expect(await releaseClick(deps(), { clickId, now })).toMatchObject({
      state: "refused",
    });
    expect((await fixture.visit(code)).status).toBe(302);
    expect(await fixture.events()).toEqual([]);
    expect(await numbers()).toMatchObject({ clicks: 0, clicksRefused: { held: 1, operator: 1, used: 1 } });
  });

  test("if suspicious clicks are refused, the visitor reaches the landing page and nothing is paid", async () => {
    await open("refuse");
    const code = await fixture.issue();
    expect((await fixture.visit(code)).status).toBe(302);
    expect((await fixture.visit(code)).status).toBe(302);
    expect([await fixture.events(), await fixture.charges()]).toEqual([[], []]);
    expect(await list()).toMatchObject([{ state: "refused", suspicions: ["right-after-issue"] }]);
    expect(await numbers()).toMatchObject({ clicksRefused: { suspicious: 1, used: 1 } });
  });

  test("a code whose click is withheld can still earn by its view", async () => {
    await open("hold");
    const code = await fixture.issue();
    await fixture.visit(code);
    await fixture.earnByView(code);
    expect((await fixture.events()).map(({ event }) => event)).toEqual(["rewarded"]);
  });

  test("a counted click is refunded to its campaign once, and the statistics show it", async () => {
    await open("pay");
    const [first, second] = [await fixture.issue("501"), await fixture.issue("502")];
    await fixture.visit(first);
    await fixture.visit(second);
    const clickId = (await list()).find(({ code }) => code === first)?.clickId ?? "";
    const refunds = await Promise.all([1, 2, 3].map(() => refundClick(store.database, { clickId, now })));
    expect(refunds.map(({ outcome }) => outcome).sort()).toEqual(["refunded", "refunded-before", "refunded-before"]);
    expect(await ofCampaign()).toEqual([{ clicks: 1, spent: 1500 }]);
    expect(await numbers()).toMatchObject({ clicks: 2, refunds: { direct_link: 1 }, spendMicros: 1500n });
    // The charges and the users' earnings stay unchanged.
    expect(await fixture.charges()).toHaveLength(2);
    expect(await fixture.events()).toHaveLength(2);
    expect((await list()).filter(({ refundedAt }) => refundedAt !== null)).toMatchObject([{ clickId }]);
    expect(await refundClick(store.database, { clickId: "clk_none", now })).toEqual({ outcome: "unknown-click" });
  });
});
