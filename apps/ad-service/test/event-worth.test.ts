import { randomBytes } from "node:crypto";
import { listEventsResponse, statsResponse } from "@intermission/ad-core/client-api";
import type { ListedEvent } from "@intermission/ad-core/listed-event";
import { createAds } from "@intermission/publisher";
import { untilFeedsAreCurrent } from "@intermission/testing/settled-feed";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { insertToken } from "../src/bots/tokens.ts";
import { requireCurrency } from "../src/campaigns/currency.ts";
import { openClicks } from "../src/clicks/follow-direct-link.ts";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { listClicks } from "../src/reviews/list-clicks.ts";
import { releaseClick } from "../src/reviews/review-clicks.ts";
import { listViews, refundView, releaseView } from "../src/reviews/review-views.ts";
import { rememberPublisherShare } from "../src/statistics/publisher-share.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { bearer, type ClientFixture, openClientFixture } from "./fixtures/client-fixture.ts";
import { rollUpUntilNow } from "./fixtures/facts-fixture.ts";
import { openViewFixture, type ViewFixture, wholeVideo } from "./fixtures/view-fixture.ts";

const quiet = { warn: () => {} };

describe("what an event is worth to the publisher", () => {
  let client: ClientFixture;
  let fixture: ViewFixture;
  let token: string;
  let latestUser = 600;

  beforeAll(async () => {
    client = await openClientFixture({ currency: "EUR" });
    await requireCurrency(client.database, "EUR", quiet);
    await sql(`insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop')`);
    await sql(`insert into campaigns (campaign_id, name, advertiser_id, formats, landing_url, click_price_micros)
      values ('cmp_link', 'Link', 'adv_shop', '{direct_link}', 'https://shop.test/', 1501)`);
  });
  afterAll(() => client.close());
  beforeEach(async () => {
    fixture = await openViewFixture(client.database, (app, deps) => {
      viewPlayerRoutes(app, deps);
      directLinkRoutes(app, { clicks: openClicks(deps), encryptionKey: randomBytes(32), now: deps.now });
    });
    const { botId } = fixture;
    const entry = { botId, state: "active" as const, now: fixture.clock.now };
    ({ token } = await client.database.transaction((tx) => insertToken(tx, client.secretBox, entry)));
    await share(70);
    await setPrice(2501);
    return () => fixture.close();
  });

  const sql = (text: string) => client.database.run<Record<string, unknown>>({ name: "", text }, []);
  async function set(setting: string) {
    await sql(`update bots set ${setting} where bot_id = '${fixture.botId}'`);
    for (const { cache } of [client.bots, fixture.bots]) cache.forget(fixture.botId);
  }
  const share = (percent: number) =>
    rememberPublisherShare(client.database, { configured: percent, now: new Date() }, quiet);
  const setPrice = (micros: number) =>
    sql(`update campaigns set view_price_micros = ${micros} where campaign_id = 'cmp_1'`);

  async function watch(reports = wholeVideo()) {
    const user = String(++latestUser);
    const view = await fixture.begin(user, await fixture.issue(user, "shop"));
    await fixture.report(view, { started: true });
    fixture.advance(10);
    await fixture.report(view, { reports });
    return (await fixture.report(view, { closed: "tap" })).body;
  }
  async function follow() {
    const code = await fixture.issue(String(++latestUser));
    fixture.advance(2);
    const address = `203.${latestUser >> 8}.${latestUser & 255}.9`;
    const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en", "x-forwarded-for": address };
    expect((await fetch(`${fixture.address}/${code}`, { headers, redirect: "manual" })).status).toBe(302);
  }
  const bodies = async () => (await fixture.events()).map(({ body }): Partial<ListedEvent> => JSON.parse(body));
  async function feed() {
    await untilFeedsAreCurrent(client.database);
    return listEventsResponse.parse(await (await client.get("/events", bearer(token))).json()).events;
  }
  const worths = (events: readonly Partial<ListedEvent>[]) =>
    events.map(({ revenue_micros, currency }) => [revenue_micros, currency]);
  async function stats() {
    await rollUpUntilNow(client.database);
    client.clock.now = fixture.clock.now;
    return statsResponse.parse(await (await client.get("/stats", bearer(token))).json());
  }

  test("it stays out of body and list until the bot's setting includes it, and is in the list of earlier events then", async () => {
    await watch();
    const [body] = await bodies();
    expect(Object.keys(body ?? {})).toEqual([
      "event",
      "event_id",
      "bot_id",
      "user_tg_id",
      "code",
      "reference",
      "occurred_at",
    ]);
    expect(worths(await feed())).toEqual([[undefined, undefined]]);
    await set("include_revenue = true");
    expect(worths(await feed())).toEqual([[1750, "EUR"]]);
  });

  test("views, clicks, free ads and tests say it in the bytes that are signed, and later changes leave it as it was", async () => {
    await set("include_revenue = true");
    await watch();
    await follow();
    await share(55);
    await watch();
    await setPrice(0);
    await watch();
    await set(`testers = '{${latestUser + 1}}'`);
    await setPrice(9000);
    await watch();
    // 70 % of 2501 and of 1501, 55 % of 2501, each rounded down; a free ad; a tester.
    const expected = [1750, 1050, 1375, 0, 0];
    expect(worths(await bodies())).toEqual(expected.map((micros) => [micros, "EUR"]));
    expect(worths(await feed())).toEqual(expected.map((micros) => [micros, "EUR"]));
    expect((await feed()).at(-1)).toMatchObject({ test: true, revenue_micros: 0 });
  });

  test("the sum of the events, less the refunded ones, is the revenue of the statistics and of `earnings` to the micro", async () => {
    await set("include_revenue = true");
    for (const percent of [70, 33, 1]) {
      await share(percent);
      await watch();
      await follow();
    }
    const events = await feed();
    const sum = events.reduce((total, { revenue_micros = 0 }) => total + revenue_micros, 0);
    expect(sum).toBe(1750 + 1050 + 825 + 495 + 25 + 15);
    expect((await stats()).total.revenue_micros).toBe(sum);
    expect((await createAds({ url: client.address, token, botId: fixture.botId }).stats()).total.revenue_micros).toBe(
      sum,
    );

    await share(99);
    const [first] = await sql(`select view_id from views where bot_id = '${fixture.botId}' order by opened_at`);
    const id = { botId: fixture.botId, viewId: String(first?.view_id) };
    expect(await refundView(client.database, { ...id, now: fixture.clock.now })).toMatchObject({ outcome: "refunded" });
    expect((await stats()).total).toMatchObject({ refunds: { rewarded: 1 }, revenue_micros: sum - 1750 });
  });

  test("a held view and a held click are worth what applies when the operator releases them", async () => {
    await set("include_revenue = true, suspicious_views = 'hold', suspicious_clicks = 'hold'");
    await watch(wholeVideo().map((report) => ({ ...report, rendered_frames: 0 })));
    fixture.advance(-2);
    const code = await fixture.issue(String(++latestUser));
    const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en", "x-forwarded-for": "203.0.113.9" };
    await fetch(`${fixture.address}/${code}`, { headers, redirect: "manual" });
    expect(await feed()).toEqual([]);
    await share(50);
    const of = { botId: fixture.botId, state: "held" as const, limit: 10 };
    const [view] = (await listViews(client.database, of)).rows;
    const [click] = (await listClicks(client.database, of)).rows;
    const now = fixture.clock.now;
    const released = { botId: fixture.botId, viewId: view?.sessionId ?? "", eventId: "evt_released", now };
    expect(await releaseView(client.database, released)).toMatchObject({ outcome: "released" });
    expect(
      await releaseClick(
        { database: client.database, makePartitions: async () => {} },
        { clickId: click?.clickId ?? "", now },
      ),
    ).toMatchObject({
      outcome: "released",
    });
    expect(worths(await bodies()).sort()).toEqual([
      [1250, "EUR"],
      [750, "EUR"],
    ]);
    expect((await stats()).total.revenue_micros).toBe(2000);
  });
});
