import { randomBytes } from "node:crypto";
import type { Consent } from "@intermission/ad-core/consent";
import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import { type BuyerSettings, usualBuyer } from "@intermission/operator-api/buyers";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openBuyer, type Scenario } from "../../../examples/buyer.ts";
import { addBuyer, updateBuyer } from "../src/buyers/buyers.ts";
import { listExchanges } from "../src/demand/exchanges.ts";
import { migrations } from "../src/migrations.ts";
import { advertiserAccount, publisherAccount, sumOfEntries } from "../src/money/ledger.ts";
import { moneyOfAdvertiser } from "../src/money/terms.ts";
import { storeConsent } from "../src/viewers/viewer-consents.ts";
import { settleUntilNow } from "./fixtures/facts-fixture.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";

const ann = "1001";
const box = secretBox(randomBytes(32));

describe("a buyer of OpenRTB", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openVastFixture>>;
  let stand: Awaited<ReturnType<typeof openBuyer>>;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await ask("insert into deployment (currency) values ('USD')");
    await ask("insert into publisher_shares (since, percent) values ('2020-01-01', 70)");
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openVastFixture(store.database, {}, box);
    stand = await openBuyer();
  });
  afterEach(async () => {
    stand.close();
    await ask("update buyers set is_active = false");
    await fixture.close();
  });

  const ask = <Row = Record<string, unknown>>(text: string, ...values: unknown[]) =>
    store.database.run<Row>({ name: "", text }, values);

  async function buy(scenario: Scenario, change: Partial<BuyerSettings> = {}, key: string | null = null) {
    const deps = { database: store.database, secretBox: box };
    const name = `Exchange ${randomBytes(4).toString("hex")}`;
    const { url = stand.urlOf(scenario) } = change;
    const added = await addBuyer(deps, {
      ...usualBuyer,
      tmaxMs: 800,
      ...change,
      url,
      name,
      key,
      now: fixture.clock.now,
    });
    if (added === undefined) throw new Error("the name is taken");
    const buyer = await updateBuyer(deps, { buyerId: added.buyerId, change: { isActive: true } });
    await fixture.campaigns.refresh();
    return buyer;
  }

  const outcomesOf = async (buyerId: string) =>
    (await ask<{ outcome: string }>("select outcome from opening_offers where source = $1", buyerId)).map(
      ({ outcome }) => outcome,
    );
  /** What the house ad of the fixture costs: 2.5 for 1,000 views. */
  const cheaperHouse = () =>
    ask("update campaigns set view_price_micros = 1000, updated_at = now() where campaign_id = 'cmp_1'");

  test("a bid that is worth more is shown, billed once at the first picture, and pays the publisher's share at completion", async () => {
    await cheaperHouse();
    const buyer = await buy("bid", {}, "secret");
    const opened = await fixture.begin(ann);
    expect(opened).toMatchObject({
      ad: { advertiser: "Shop", title: "A bought ad", media_url: `${stand.address}/ad.mp4` },
    });
    const [call] = stand.calls;
    expect(call?.headers).toMatchObject({ "x-openrtb-version": "2.6", authorization: "Bearer secret" });
    await fixture.callTrackers();
    const [won, ...others] = stand.callsOf("/win");
    expect(others).toEqual([]);
    expect(won).toMatch(/^\/win\?id=.+&p=1\.25&c=USD$/);
    expect(stand.callsOf("/bill"), "an offer is not an impression").toEqual([]);
    await settleUntilNow(store.database);
    const account = advertiserAccount(buyer.advertiserId);
    expect(await sumOfEntries(store.database, account)).toBe(0n);

    await fixture.play(opened, 0, 5);
    await fixture.callTrackers();
    expect(stand.callsOf("/bill")).toHaveLength(1);
    expect(stand.callsOf("/impression")).toHaveLength(1);
    await settleUntilNow(store.database);
    expect(await sumOfEntries(store.database, account), "1.25 for 1,000 impressions").toBe(-1250n);
    expect((await moneyOfAdvertiser(store.database, buyer.advertiserId)).balanceMicros).toBe(-1250);
    expect(await sumOfEntries(store.database, publisherAccount(fixture.botId))).toBe(0n);

    await fixture.play({ ...opened, first_sequence: 5 }, 5, 10);
    await Promise.all([fixture.report(opened, { closed: "tap" }), fixture.report(opened, { closed: "tap" })]);
    expect(await fixture.charges()).toMatchObject([{ campaign_id: buyer.campaignId, price_micros: 1250 }]);
    await fixture.callTrackers();
    await settleUntilNow(store.database);
    expect(await sumOfEntries(store.database, account), "not owed twice").toBe(-1250n);
    expect(await sumOfEntries(store.database, publisherAccount(fixture.botId)), "70 %").toBe(875n);
    expect((await moneyOfAdvertiser(store.database, buyer.advertiserId)).balanceMicros).toBe(-1250);
    for (const path of ["/win", "/bill", "/impression", "/complete"]) expect(stand.callsOf(path), path).toHaveLength(1);
    expect(await outcomesOf(buyer.buyerId)).toEqual(["won"]);
    expect(await listExchanges(store.database, buyer.buyerId)).toMatchObject([{ outcome: "won", nonBid: null }]);
  });

  test("what is shown and not completed is owed, and the publisher earns nothing of it", async () => {
    await cheaperHouse();
    const buyer = await buy("bid");
    const opened = await fixture.begin(ann);
    await fixture.play(opened, 0, 2);
    await settleUntilNow(store.database);
    expect(await sumOfEntries(store.database, advertiserAccount(buyer.advertiserId))).toBe(-1250n);
    expect(await sumOfEntries(store.database, publisherAccount(fixture.botId))).toBe(0n);
    const days = await ask(
      "select shown, shown_micros, views, spent_micros from campaign_days where campaign_id = $1",
      buyer.campaignId,
    );
    expect(days).toEqual([{ shown: 1, shown_micros: 1250, views: 0, spent_micros: 0 }]);
  });

  test("a bid that is worth less than an own campaign loses, and its buyer is told, without the price", async () => {
    await ask("update campaigns set view_price_micros = 2500, updated_at = now() where campaign_id = 'cmp_1'");
    const buyer = await buy("bid");
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Intermission" } });
    await fixture.callTrackers();
    expect(stand.callsOf("/loss")).toEqual(["/loss?bid=response-1&why=102&p="]);
    expect(stand.callsOf("/win")).toEqual([]);
    expect(await outcomesOf(buyer.buyerId)).toEqual(["lost"]);
    const own = await ask(
      "select outcome, cpm_micros from opening_offers where source = 'own' and bot_id = $1",
      fixture.botId,
    );
    expect(own).toEqual([{ outcome: "won", cpm_micros: 2_500_000 }]);
  });

  test("what answers a test is shown to testers alone, and nobody is told or paid", async () => {
    await cheaperHouse();
    await buy("bid", { alwaysTests: true });
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Intermission" } });
    await fixture.callTrackers();
    expect([...stand.callsOf("/win"), ...stand.callsOf("/loss"), ...stand.callsOf("/bill")]).toEqual([]);
  });

  test("a bid with half of a character, or a key that no header takes, keeps no viewer from the own ad", async () => {
    await ask("update campaigns set view_price_micros = 2500, updated_at = now() where campaign_id = 'cmp_1'");
    await buy("half-characters");
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Intermission" } });
    await cheaperHouse();
    const buyer = await buy("bid", {}, "a key\nof two lines");
    await ask("update buyers set is_active = false where buyer_id <> $1", buyer.buyerId);
    await fixture.campaigns.refresh();
    expect(await fixture.begin("1002")).toMatchObject({ ad: { advertiser: "Intermission" } });
    expect(await outcomesOf(buyer.buyerId)).toEqual(["unreachable"]);
  });

  const outcomes: [Scenario, BidOutcome, change?: Partial<BuyerSettings>][] = [
    ["gzip", "won"],
    ["nurl", "won"],
    ["several", "won"],
    ["macros", "won"],
    ["price-as-text", "won"],
    ["expensive", "implausible-price"],
    ["no-content", "no-bid"],
    ["empty-object", "no-bid"],
    ["no-seats", "no-bid"],
    ["no-bid-reason", "no-bid"],
    ["slow", "timeout", { tmaxMs: 100 }],
    ["malformed", "malformed"],
    ["html-page", "malformed"],
    ["too-large", "too-large"],
    ["error", "status"],
    ["wrong-currency", "other-currency"],
    ["wrong-id", "other-request"],
    ["below-floor", "below-floor", { floorMicros: 500_000 }],
    ["no-price", "no-price"],
    ["blocked-category", "blocked-category", { blockedCategories: ["IAB25"] }],
    ["blocked-domain", "blocked-domain", { blockedDomains: ["casino.example"] }],
    ["blocked-attribute", "blocked-attribute"],
    ["banner", "other-format"],
    ["no-markup", "no-markup"],
    ["half-characters", "won"],
    ["broken-vast", "broken-markup"],
    ["too-long", "other-duration"],
  ];
  test("each answer of the stand-in has one named outcome, and the viewer gets an ad whatever it is", async () => {
    await cheaperHouse();
    let user = 2000;
    for (const [scenario, outcome, change] of outcomes) {
      const buyer = await buy(scenario, change);
      const opened = await fixture.begin(String(++user));
      const advertiser = outcome === "won" ? "Shop" : "Intermission";
      expect(opened, scenario).toMatchObject({ ad: { advertiser } });
      expect(await outcomesOf(buyer.buyerId), scenario).toEqual([outcome]);
      const [exchange, ...more] = await listExchanges(store.database, buyer.buyerId);
      expect(more).toEqual([]);
      expect(exchange?.outcome, scenario).toBe(outcome);
      await ask("update buyers set is_active = false");
    }
  });

  test("a bid whose campaign is at its cap has not won: another ad is offered, and its buyer is told that the moment passed", async () => {
    await cheaperHouse();
    const buyer = await buy("bid");
    await ask("update campaigns set daily_view_cap = 1, updated_at = now() where campaign_id = $1", buyer.campaignId);
    await fixture.campaigns.refresh();
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Shop" } });
    expect(await fixture.begin("1002")).toMatchObject({ ad: { advertiser: "Intermission" } });
    const stored = await ask(
      "select source, outcome from opening_offers where bot_id = $1 order by occurred_at, outcome",
      fixture.botId,
    );
    const of = (source: string) => stored.filter((row) => row.source === source).map((row) => row.outcome);
    expect(of(buyer.buyerId).toSorted()).toEqual(["not-offered", "won"]);
    expect(of("own").toSorted()).toEqual(["lost", "won"]);
    await fixture.callTrackers();
    expect(stand.callsOf("/win")).toHaveLength(1);
    expect(stand.callsOf("/loss")).toEqual(["/loss?bid=response-1&why=2&p="]);
  });

  test("macros are filled in, in each of their forms", async () => {
    await cheaperHouse();
    await buy("macros");
    await fixture.play(await fixture.begin(ann), 0, 1);
    await fixture.callTrackers();
    expect(stand.callsOf("/bill")[0]).toMatch(/^\/bill\?p=1\.25&b64=MS4yNQ%3D%3D&enc=[^$%{}]+&seat=seat-1$/);
  });

  test("of several bids the best that can be shown wins, and the others are told why they did not", async () => {
    await cheaperHouse();
    await buy("several");
    await fixture.begin(ann);
    await fixture.callTrackers();
    expect(stand.callsOf("/loss").toSorted()).toEqual(["/loss?bid=broken&why=200&p=", "/loss?bid=low&why=102&p="]);
    expect(stand.callsOf("/win")).toHaveLength(1);
    expect(stand.callsOf("/win")[0]).toContain("p=2&");
  });

  test("a notice that is not answered with 200 or 204 is repeated after ten seconds, and owed once", async () => {
    await cheaperHouse();
    stand.close();
    let answers = 0;
    stand = await openBuyer({ notice: ({ path }) => (path === "/bill" && ++answers < 3 ? 500 : 204) });
    await buy("bid");
    const opened = await fixture.begin(ann);
    await fixture.play(opened, 0, 1);
    for (let seconds = 0; seconds < 60; seconds += 10) {
      await fixture.callTrackers();
      fixture.advance(10);
    }
    expect(stand.callsOf("/bill")).toHaveLength(3);
    expect(await ask("select from bought_impressions where bot_id = $1", fixture.botId)).toHaveLength(1);
  });

  test("eight openings and eight starts at once on two nodes are one win and one impression", async () => {
    await cheaperHouse();
    const buyer = await buy("bid");
    const nodes = [fixture.address, await fixture.startNode()];
    const at = (index: number) => nodes[index % 2];
    const code = await fixture.issue(ann);
    await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.open(ann, code, at(index))));
    const opened = await fixture.begin(ann, code);
    await Promise.all([fixture.callTrackers(), fixture.callTrackers()]);
    expect(stand.callsOf("/win")).toHaveLength(1);
    await Promise.all(Array.from({ length: 8 }, (_, index) => fixture.report(opened, { started: true }, at(index))));
    await fixture.play(opened, 0, 1);
    await Promise.all([fixture.callTrackers(), fixture.callTrackers()]);
    expect(stand.callsOf("/bill")).toHaveLength(1);
    await Promise.all([settleUntilNow(store.database), settleUntilNow(store.database)]);
    expect(await sumOfEntries(store.database, advertiserAccount(buyer.advertiserId))).toBe(-1250n);
  });

  test("a transaction that is cut off between the win and its notice leaves neither, and the next opening has both once", async () => {
    await cheaperHouse();
    await buy("bid");
    // As if the node were killed before its commit.
    await ask(
      `create function cut_off() returns trigger language plpgsql as $$ begin raise exception 'cut off' using errcode = '57P01'; end $$`,
    );
    await ask(
      "create trigger cut_off before insert on tracker_calls for each row when (new.event = 'win') execute function cut_off()",
    );
    const cut = await fixture.open(ann).catch(() => undefined);
    expect(cut?.status).not.toBe(200);
    await ask("drop trigger cut_off on tracker_calls");
    await ask("drop function cut_off");
    expect(await ask("select from views where bot_id = $1", fixture.botId)).toEqual([]);
    await fixture.begin(ann);
    await fixture.callTrackers();
    expect(stand.callsOf("/win")).toHaveLength(1);
  });

  test("a credit limit and a daily budget are exceeded by no offer, twelve at once on two nodes; what was not started is free again", async () => {
    await cheaperHouse();
    const buyer = await buy("bid");
    const openAll = async (from: number) => {
      await fixture.campaigns.refresh();
      // A second node that has already read the limits.
      const nodes = [fixture.address, await fixture.startNode()];
      const openings = Array.from({ length: 12 }, (_, index) =>
        fixture.open(String(from + index), undefined, nodes[index % 2]),
      );
      const ads = (await Promise.all(openings)).map(
        ({ body }) => (body as { ad?: { advertiser: string } }).ad?.advertiser,
      );
      expect(ads).not.toContain(undefined);
      return ads.filter((advertiser) => advertiser === "Shop").length;
    };
    // 1,250 micros for each.
    await ask("update advertisers set credit_limit_micros = 3750 where advertiser_id = $1", buyer.advertiserId);
    expect(await openAll(7000)).toBe(3);
    fixture.advance(16 * 60);
    const opened = await fixture.begin("7100");
    expect(opened).toMatchObject({ ad: { advertiser: "Shop" } });
    await fixture.play(opened, 0, 1);
    expect(await openAll(7200), "one is owed").toBe(2);
    await ask("update advertisers set credit_limit_micros = null where advertiser_id = $1", buyer.advertiserId);
    await ask(
      "update campaigns set daily_budget_micros = 6250, updated_at = now() where campaign_id = $1",
      buyer.campaignId,
    );
    fixture.advance(16 * 60);
    expect(await openAll(7300), "five a day, of which one was shown").toBe(4);
    const [{ owed } = { owed: -1 }] = await ask<{ owed: number }>(
      "select sum(price_micros)::integer as owed from bought_impressions where campaign_id = $1",
      buyer.campaignId,
    );
    expect(owed).toBe(1250);
  });

  test("a buyer that owes all of its credit is not requested", async () => {
    const buyer = await buy("bid");
    await ask("update advertisers set credit_limit_micros = 0 where advertiser_id = $1", buyer.advertiserId);
    await fixture.campaigns.refresh();
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Intermission" } });
    expect(stand.calls).toEqual([]);
  });

  test("a sponsorship goes first, and no buyer is requested", async () => {
    await buy("bid");
    await ask("update campaigns set priority = 'sponsorship', updated_at = now() where campaign_id = 'cmp_1'");
    onTestFinished(() =>
      ask("update campaigns set priority = 'standard', updated_at = now() where campaign_id = 'cmp_1'").then(() => {}),
    );
    await fixture.campaigns.refresh();
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Intermission" } });
    expect(stand.calls).toEqual([]);
  });

  test("a buyer that fails rests after five requests, and is named as not requested", async () => {
    await cheaperHouse();
    const buyer = await buy("error");
    for (let user = 3000; user < 3007; user++) await fixture.begin(String(user));
    expect(stand.calls.filter(({ path }) => path.startsWith("/openrtb2"))).toHaveLength(5);
    const found = await outcomesOf(buyer.buyerId);
    expect(found.filter((outcome) => outcome === "resting")).toHaveLength(2);
  });

  test("what a viewer is called is sent only where the settings say so, differs for each buyer, and is not kept", async () => {
    const [quiet, open, other] = [
      await buy("no-content"),
      await buy("bid", { sends: ["user-id"] }),
      await buy("no-seats", { sends: ["user-id"] }),
    ];
    await storeConsent(store.database, {
      botId: fixture.botId,
      userId: ann,
      consent: { gdpr: false },
      now: fixture.clock.now,
    });
    await fixture.begin(ann);
    const requestTo = (scenario: string): Readonly<Record<string, unknown>> =>
      stand.calls.find(({ path }) => path.endsWith(scenario))?.request ?? {};
    expect(requestTo("no-content")).not.toHaveProperty("user");
    const ids = ["bid", "no-seats"].map((scenario) => (requestTo(scenario).user as { id: string }).id);
    expect(new Set([...ids, ann]).size).toBe(3);
    for (const { buyerId } of [quiet, open, other]) {
      const [exchange] = await listExchanges(store.database, buyerId);
      for (const id of [...ids, ann]) expect(exchange?.request).not.toContain(id);
    }
  });

  test("the address of a viewer is sent only where the settings say so, and is not kept", async () => {
    await buy("no-content", { sends: ["user-id"] });
    const open = await buy("no-seats", { sends: ["address"] });
    for (const [user, address] of [
      [ann, "203.0.113.7"],
      ["1002", "2001:db8::7"],
    ] as const) {
      const body = { bot_id: fixture.botId, init_data: fixture.initData(user), consent: { gdpr: false } };
      await fixture.post("/sessions", body, "application/json", fixture.address, { "x-forwarded-for": address });
    }
    const devicesOf = (scenario: string) =>
      stand.calls.flatMap(({ path, request }) => (path.endsWith(scenario) ? [request?.device] : []));
    expect(devicesOf("no-seats")).toMatchObject([{ ip: "203.0.113.7" }, { ipv6: "2001:db8::7" }]);
    for (const device of devicesOf("no-content")) {
      expect(device).not.toHaveProperty("ip");
      expect(device).not.toHaveProperty("ipv6");
    }
    const [exchange] = await listExchanges(store.database, open.buyerId);
    expect(exchange?.request).toContain('"sent, not kept"');
    expect(exchange?.request).not.toContain("203.0.113.7");
  });

  test("a feed of RichAds is requested only with its key and the leave to send the address; its video is billed at the first picture", async () => {
    await cheaperHouse();
    const feed = { protocol: "richads", url: stand.feedUrl } as const;
    const locked = await buy("bid", feed, "792361");
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Intermission" } });
    const keyless = await buy("bid", { ...feed, sends: ["address"] });
    expect(await fixture.begin("1002")).toMatchObject({ ad: { advertiser: "Intermission" } });
    expect(stand.calls, "nothing leaves").toEqual([]);
    for (const { buyerId } of [locked, keyless])
      expect(new Set(await outcomesOf(buyerId))).toEqual(new Set(["not-permitted"]));

    const open = await buy("bid", { ...feed, sends: ["address"], floorMicros: 500_000 }, "792361");
    await storeConsent(store.database, {
      botId: fixture.botId,
      userId: "1003",
      consent: { gdpr: false },
      now: fixture.clock.now,
    });
    const opened = await fixture.begin("1003");
    expect(opened).toMatchObject({ ad: { advertiser: "Shop" } });
    expect(stand.calls[0]?.request).toEqual({
      ip: "127.0.0.1",
      user_agent: "node",
      publisher_id: "792361",
      motivated: true,
      premium: false,
      number_of_bids: 1,
      production: true,
      bid_floor: 0.5,
    });
    const [exchange] = await listExchanges(store.database, open.buyerId);
    expect(exchange).toMatchObject({
      outcome: "won",
      bids: [{ outcome: "other-format" }, { outcome: "won", cpmMicros: 1_400_000 }],
    });
    for (const secret of ["792361", "127.0.0.1"]) expect(exchange?.request).not.toContain(secret);
    await fixture.callTrackers();
    expect(stand.callsOf("/bill")).toEqual([]);
    await fixture.play(opened, 0, 1);
    await fixture.callTrackers();
    expect(stand.callsOf("/bill")).toHaveLength(1);
    await settleUntilNow(store.database);
    expect(await sumOfEntries(store.database, advertiserAccount(open.advertiserId))).toBe(-1400n);
  });

  test("without consent neither an address nor an id leaves, the strings go with the request, and the reason is told", async () => {
    const buyer = await buy("no-content", { sends: ["user-id", "address"], tcfVendorId: 755 });
    const { botId, clock } = fixture;
    const refusing = "COtybn4PA_zT4KjACBENAPCIAEBAAECAAIAAAAAAAAAA";
    const give = (userId: string, consent: Consent | null) =>
      storeConsent(store.database, { botId, userId, consent, now: clock.now });
    await give("1002", { tcf: refusing });
    await give("1003", { gdpr: false });
    await give("1004", { gdpr: false });
    await give("1004", null);
    for (const user of [ann, "1002", "1003", "1004"]) await fixture.begin(user);
    const [silent, refused, unneeded, withdrawn] = stand.calls.map(({ request }) => request ?? {});
    for (const request of [silent, refused, withdrawn]) {
      expect(request).not.toHaveProperty("user.id");
      expect(request).not.toHaveProperty("device.ip");
    }
    expect(silent).not.toHaveProperty("regs");
    expect(refused).toMatchObject({ user: { consent: refusing }, regs: { gdpr: 1 } });
    expect(unneeded).toMatchObject({
      user: { id: expect.any(String) },
      device: { ip: "127.0.0.1" },
      regs: { gdpr: 0 },
    });
    const kept = (await listExchanges(store.database, buyer.buyerId)).map(({ consent }) => consent);
    expect(kept, "one a second is kept").toEqual(["none"]);
    const reasons = await ask("select consent from opening_offers where source = $1", buyer.buyerId);
    expect(reasons.map(({ consent }) => consent).toSorted()).toEqual(["none", "none", "not-needed", "refused"]);
    fixture.advance(49 * 3600);
    await fixture.begin("1003");
    expect(stand.calls.at(-1)?.request, "what was said two days ago holds no longer").not.toHaveProperty("user.id");
  });

  test("a bot with a buyer and no campaign of its own offers an ad", async () => {
    await ask(
      "update campaigns set status = 'paused', paused_by = 'operator', updated_at = now() where campaign_id = 'cmp_1'",
    );
    onTestFinished(() =>
      ask(
        "update campaigns set status = 'active', paused_by = null, updated_at = now() where campaign_id = 'cmp_1'",
      ).then(() => {}),
    );
    const buyer = await buy("bid");
    expect(await fixture.begin(ann)).toMatchObject({ ad: { advertiser: "Shop" } });
    const none = await buy("no-content");
    await ask("update buyers set is_active = false where buyer_id = $1", buyer.buyerId);
    await fixture.campaigns.refresh();
    expect((await fixture.open("1002")).body).toMatchObject({ outcome: "no-ad" });
    expect(await outcomesOf(none.buyerId)).toEqual(["no-bid"]);
  });
});
