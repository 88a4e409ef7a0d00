import { randomBytes } from "node:crypto";
import type { BidOutcome } from "@intermission/operator-api/bid-outcomes";
import { type BuyerSettings, usualBuyer } from "@intermission/operator-api/buyers";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openBuyer, type Scenario } from "../../../examples/buyer.ts";
import { addBuyer, updateBuyer } from "../src/buyers/buyers.ts";
import { migrations } from "../src/migrations.ts";
import { advertiserAccount, publisherAccount, sumOfEntries } from "../src/money/ledger.ts";
import { settleUntilNow } from "./fixtures/facts-fixture.ts";
import { withInterstitials } from "./fixtures/interstitial-fixture.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";
import { playedRange } from "./fixtures/view-fixture.ts";

const box = secretBox(randomBytes(32));

describe("an interstitial that is bought", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openFixture>>;
  let stand: Awaited<ReturnType<typeof openBuyer>>;
  const openFixture = async () => withInterstitials(await openVastFixture(store.database, {}, box));
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await ask("insert into deployment (currency) values ('USD')");
    await ask("insert into publisher_shares (since, percent) values ('2020-01-01', 70)");
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openFixture();
    stand = await openBuyer();
    // The own interstitial costs less than a bid.
    await ask("update campaigns set view_price_micros = 500, updated_at = now() where campaign_id = 'cmp_between'");
    await fixture.campaigns.refresh();
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
    const settings = { ...usualBuyer, tmaxMs: 800, ...change, url, name, key, now: fixture.clock.now };
    const added = await addBuyer(deps, settings);
    if (added === undefined) throw new Error("the name is taken");
    const buyer = await updateBuyer(deps, { buyerId: added.buyerId, change: { isActive: true } });
    await fixture.campaigns.refresh();
    return buyer;
  }
  const outcomesOf = async (source: string) =>
    (
      await ask<{ outcome: BidOutcome }>(
        "select outcome from opening_offers where source = $1 and bot_id = $2",
        source,
        fixture.botId,
      )
    ).map(({ outcome }) => outcome);

  test("is requested as one that may be skipped and rewards nobody", async () => {
    const buyer = await buy("bid");
    await ask(
      "update campaigns set skip_after_seconds = 7, updated_at = now() where campaign_id = $1",
      buyer.campaignId,
    );
    await fixture.campaigns.refresh();
    const view = await fixture.beginAd();
    expect(view).toMatchObject({ ad: { advertiser: "Shop" }, skip_after_ms: 7000 });
    const [imp] = stand.calls[0]?.request?.imp ?? [];
    expect(imp).toMatchObject({
      rwdd: 0,
      instl: 1,
      tagid: `${fixture.botId}/interstitial`,
      video: { skip: 1, skipmin: 7, skipafter: 7, plcmt: 3 },
    });
    expect(await outcomesOf(buyer.buyerId)).toEqual(["won"]);
  });

  test("is owed from its first picture on, once, and pays the publisher once it was in view for long enough", async () => {
    const buyer = await buy("bid");
    const owed = async () => {
      await settleUntilNow(store.database);
      return -(await sumOfEntries(store.database, advertiserAccount(buyer.advertiserId)));
    };
    const earned = () => sumOfEntries(store.database, publisherAccount(fixture.botId));
    const view = await fixture.beginAd();
    await fixture.callTrackers();
    expect(stand.callsOf("/win")).toHaveLength(1);
    expect(await owed()).toBe(0n);

    await fixture.play(view, 0, 4);
    await fixture.callTrackers();
    expect([stand.callsOf("/bill").length, stand.callsOf("/impression").length]).toEqual([1, 1]);
    expect([await owed(), await earned()], "shown, not for long enough yet").toEqual([1250n, 0n]);

    fixture.advance(1);
    const call = { reports: [playedRange(4, 4)] };
    const nodes = [fixture.address, await fixture.startNode()];
    await Promise.all(Array.from({ length: 8 }, (_, place) => fixture.report(view, call, nodes[place % 2])));
    await fixture.report(view, { closed: "tap" });
    await fixture.callTrackers();
    expect([await owed(), await earned()], "70 %").toEqual([1250n, 875n]);
    expect(await fixture.earned()).toMatchObject([{ event: "interstitial", price_micros: 1250, revenue_micros: 875 }]);
    for (const path of ["/win", "/bill", "/impression"]) expect(stand.callsOf(path), path).toHaveLength(1);
  });

  test("that is skipped too early is owed, and pays the publisher nothing", async () => {
    const buyer = await buy("bid");
    const view = await fixture.beginAd();
    await fixture.play(view, 0, 2);
    await fixture.report(view, { closed: "tap" });
    await settleUntilNow(store.database);
    expect(await sumOfEntries(store.database, advertiserAccount(buyer.advertiserId))).toBe(-1250n);
    expect(await sumOfEntries(store.database, publisherAccount(fixture.botId))).toBe(0n);
    expect(await fixture.earned()).toEqual([]);
  });

  const outcomes: [Scenario, BidOutcome, change?: Partial<BuyerSettings>][] = [
    ["only-interstitials", "won"],
    ["several", "won"],
    ["no-content", "no-bid"],
    ["slow", "timeout", { tmaxMs: 100 }],
    ["malformed", "malformed"],
    ["wrong-currency", "other-currency"],
    ["below-floor", "below-floor", { floorMicros: 500_000 }],
    ["blocked-category", "blocked-category"],
    ["banner", "other-format"],
    ["broken-vast", "broken-markup"],
    ["too-long", "other-duration"],
  ];
  test("has one named outcome for each answer, and another ad is shown where a bid cannot be", async () => {
    for (const [scenario, outcome, change] of outcomes) {
      const buyer = await buy(scenario, change);
      // Past the bot's time between two interstitials.
      fixture.advance(120);
      const { body } = await fixture.openAd();
      expect(body, scenario).toMatchObject({ ad: { advertiser: outcome === "won" ? "Shop" : "Intermission" } });
      expect(await outcomesOf(buyer.buyerId), scenario).toEqual([outcome]);
      await ask("update buyers set is_active = false");
    }
  });

  test("is available where only a buyer may have one", async () => {
    await ask("update campaigns set formats = '{rewarded}', updated_at = now() where campaign_id = 'cmp_between'");
    await fixture.campaigns.refresh();
    const available = async () => (await fixture.grant()).body.available;
    expect(await available()).toBe(false);
    await buy("bid");
    expect(await available()).toBe(true);
    await ask("update campaigns set formats = '{interstitial}', updated_at = now() where campaign_id = 'cmp_between'");
  });

  test("of a buyer whose campaign sells rewarded views alone, none is requested", async () => {
    const buyer = await buy("bid");
    await ask(
      "update campaigns set formats = '{rewarded}', updated_at = now() where campaign_id = $1",
      buyer.campaignId,
    );
    await fixture.campaigns.refresh();
    expect(await fixture.beginAd()).toMatchObject({ ad: { advertiser: "Intermission" } });
    expect(stand.calls).toEqual([]);
  });

  test("a feed of RichAds is told whether the ad rewards", async () => {
    await buy("bid", { protocol: "richads", url: stand.feedUrl, sends: ["address"] }, "792361");
    const consent = { gdpr: false };
    const { body: granted } = await fixture.grant();
    const request = { bot_id: fixture.botId, format: "interstitial", app_grant: granted.app_grant, consent };
    const from = { "x-forwarded-for": "203.0.113.7" };
    await fixture.post("/sessions", request, "application/json", fixture.address, from);
    expect(stand.calls[0]?.request).toMatchObject({ motivated: false });
  });
});
