import { openSessionResponse } from "@intermission/ad-core/player-api";
import { checkLandingUrl } from "@intermission/operator-api/campaigns";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { addCampaign } from "../src/campaigns/change-campaign.ts";
import { findCreative } from "../src/creatives/creatives.ts";
import { migrations } from "../src/migrations.ts";
import { startAdServer } from "./fixtures/ad-server-fixture.ts";
import { readReportOf, rollUpUntilNow } from "./fixtures/facts-fixture.ts";
import { companion, inline } from "./fixtures/sample-ad-server.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";

const ann = "1001";
const browser = {
  "user-agent": "Mozilla/5.0 (Linux; Android 15) Chrome/140.0 Mobile Safari/537.36",
  "accept-language": "en",
};

describe("CTA clicks", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openVastFixture>>;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openVastFixture(store.database);
  });
  afterEach(() => fixture.close());

  const clicks = () =>
    store.database.run<{ click_id: string }>({ name: "", text: "select * from cta_clicks where bot_id = $1" }, [
      fixture.botId,
    ]);
  const tap = (url: string, init: RequestInit = {}) =>
    fetch(url.replace("http://ads.test", fixture.address), { redirect: "manual", headers: browser, ...init });

  async function open() {
    const opened = openSessionResponse.parse((await fixture.open(ann)).body);
    if (opened.outcome !== "session" || !opened.ad.call_to_action) throw new Error("nothing to tap");
    return { ...opened, url: opened.ad.call_to_action.url };
  }

  async function landOn(landingPage: string) {
    const landing = checkLandingUrl(landingPage);
    if (landing.outcome !== "valid") throw new Error(landing.message);
    const campaign = {
      campaignId: `cmp_${fixture.botId}`,
      name: "Bot",
      advertiser: "Quiz",
      formats: ["rewarded" as const],
    };
    const added = await addCampaign(store.database, {
      ...campaign,
      priority: "sponsorship",
      targeting: { bots: [fixture.botId] },
      creativeIds: ["cre_1"],
      landingUrl: landing.url,
      callToAction: "Play",
      now: fixture.clock.now,
    });
    expect(added.outcome).toBe("added");
    await fixture.campaigns.refresh();
  }

  test("a creative with an erid is marked as Russia's law asks, and its landing page gets the erid", async () => {
    const run = (text: string, ...values: unknown[]) => store.database.run({ name: "", text }, values);
    await landOn("https://shop.test/?erid={erid}&c={click_id}");
    const unmarked = await open();
    expect(unmarked.ad.marking).toBeUndefined();
    expect((await tap(unmarked.url)).headers.get("location")).toMatch(/\?erid=&c=clk_/);

    await run("update creatives set erid = '2VtzqwP8x4a' where creative_id = 'cre_1'");
    // The preview is of the newest campaign, and the fixture's own has the same creative.
    await run("update campaigns set created_at = '2099-01-01' where campaign_id = $1", `cmp_${fixture.botId}`);
    await run(
      `insert into money_parties (account, details) select 'advertiser:' || advertiser_id, '{"legal_name": "ООО «Квиз»"}'
       from campaigns where campaign_id = $1`,
      `cmp_${fixture.botId}`,
    );
    onTestFinished(async () => {
      await run("update creatives set erid = null");
      await run("update campaign_creatives set label = null");
      await run("delete from money_parties");
    });
    const previewed = async () => (await findCreative(store.database, "cre_1"))?.marking;
    // The node keeps an ad for a second.
    const marked = await vi.waitFor(
      async () => {
        const opened = await open();
        expect(opened.ad.marking).toBe("Реклама. ООО «Квиз». erid: 2VtzqwP8x4a");
        expect((await tap(opened.url)).headers.get("location")).toMatch(/\?erid=2VtzqwP8x4a&c=clk_/);
        return opened;
      },
      { timeout: 5000, interval: 200 },
    );
    expect(await previewed()).toBe(marked.ad.marking);

    await run("update campaign_creatives set label = 'Quiz Night' where campaign_id = $1", `cmp_${fixture.botId}`);
    await vi.waitFor(
      async () => {
        const { advertiser, marking } = (await open()).ad;
        expect({ advertiser, marking }).toEqual({
          advertiser: "Quiz Night",
          marking: "Реклама. Quiz Night. erid: 2VtzqwP8x4a",
        });
        expect(await previewed()).toBe(marking);
      },
      { timeout: 5000, interval: 200 },
    );
  });

  test.each([
    { answer: inline(), advertiser: "Sample advertiser", marked: "Sample advertiser" },
    {
      answer: inline().replace(/<Advertiser>.*?<\/Advertiser>/, ""),
      advertiser: "Network",
      marked: "ООО «Сеть»",
    },
  ])(
    "the marking of a tag's ad names $marked, where the ad names $advertiser",
    async ({ answer, advertiser, marked }) => {
      const ads = await startAdServer({ "/tag": answer });
      await fixture.sellTag(`${ads.address}/tag`);
      const run = (text: string) => store.database.run({ name: "", text }, []);
      await run("update creatives set erid = '2VtzqwP8x4a' where kind = 'vast'");
      await run(`insert into money_parties (account, details) select 'advertiser:' || advertiser_id, '{"legal_name": "ООО «Сеть»"}'
       from advertisers where name = 'Network'`);
      onTestFinished(async () => {
        await run("delete from money_parties");
      });
      expect((await open()).ad).toMatchObject({ advertiser, marking: `Реклама. ${marked}. erid: 2VtzqwP8x4a` });
    },
  );

  test("a CTA click leads to the landing page and is counted once, however often it is repeated concurrently", async () => {
    const view = await open();
    await fixture.report(view, { started: true });
    const answers = await Promise.all(Array.from({ length: 16 }, () => tap(view.url)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    expect(answers[0]?.headers.get("location")).toBe("https://example.com/");
    expect(answers[0]?.headers.get("cache-control")).toBe("no-store");
    expect(await clicks()).toMatchObject([
      { view_id: view.session_id, user_id: ann, campaign_id: "cmp_1", creative_id: "cre_1" },
    ]);
    await fixture.begin("1002");
    await rollUpUntilNow(store.database);
    const day = { from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-02T00:00:00Z") };
    const { rows } = await readReportOf(store.database, { botId: fixture.botId, ...day, by: "creative" });
    expect(rows).toMatchObject([{ key: "cre_1", figures: { fills: 2, starts: 1, taps: 1, tapRate: 1, clicks: 0 } }]);
  });

  test.each<[string, (url: string) => Promise<Response>, number]>([
    ["HEAD", (url) => tap(url, { method: "HEAD" }), 302],
    ["a prefetch", (url) => tap(url, { headers: { ...browser, "sec-purpose": "prefetch" } }), 204],
    ["a crawler", (url) => tap(url, { headers: { "user-agent": "TelegramBot (like TwitterBot)" } }), 302],
    ["another key", (url) => tap(url.replace(/key=..../, "key=AAAA")), 302],
    ["no key", (url) => tap(url.replace(/\?.*/, "")), 302],
  ])("%s is answered but not counted", async (_name, visit, status) => {
    const view = await open();
    await fixture.report(view, { started: true });
    expect((await visit(view.url)).status).toBe(status);
    expect(await clicks()).toEqual([]);
    await tap(view.url);
    expect(await clicks()).toHaveLength(1);
  });

  test("nothing is counted before anything was played", async () => {
    const view = await open();
    expect((await tap(view.url)).status).toBe(302);
    expect(await clicks()).toEqual([]);
  });

  test("a CTA click in a VAST ad opens the tag's page with its macros filled in, and calls the tag's click tracker once", async () => {
    const ads = await startAdServer({ "/tag": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const view = await open();
    await fixture.report(view, { started: true });
    const [first, second] = [await tap(view.url), await tap(view.url)];
    const [click] = await clicks();
    expect(first.headers.get("location")).toBe(`https://shop.example/sale?c=${click?.click_id}`);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    await fixture.callTrackers();
    expect(ads.callsOf("/inline/click")).toHaveLength(1);
  });

  test("a click on a companion opens its own page, counts as the view's click, and calls its own trackers only", async () => {
    const ads = await startAdServer({ "/tag": inline({ companions: companion() }) });
    await fixture.sellTag(`${ads.address}/tag`);
    const view = await open();
    await fixture.report(view, { started: true });
    const url = view.ad.end_card?.call_to_action?.url ?? "";
    const [first, second, ofVideo] = [await tap(url), await tap(url), await tap(view.url)];
    const [click, ...more] = await clicks();
    expect(more).toEqual([]);
    expect(first.headers.get("location")).toBe(`https://shop.example/picture?c=${click?.click_id}`);
    expect(second.headers.get("location")).toBe(first.headers.get("location"));
    expect(ofVideo.headers.get("location")).toBe(`https://shop.example/sale?c=${click?.click_id}`);
    await fixture.callTrackers();
    expect(ads.callsOf("/companion/click")).toHaveLength(1);
    expect(ads.callsOf("/inline/click")).toEqual([]);
  });

  test("a companion without a page of its own has no call to action, and its address leads nowhere", async () => {
    const companions = companion().replace(/<CompanionClickThrough>.*<\/CompanionClickThrough>/, "");
    const ads = await startAdServer({ "/tag": inline({ companions }) });
    await fixture.sellTag(`${ads.address}/tag`);
    const view = await open();
    expect(view.ad.end_card?.poster_url).toBe(`${ads.address}/companion.png`);
    expect(view.ad.end_card?.call_to_action).toBeUndefined();
    expect((await tap(`${view.url}&place=end-card`)).status).toBe(404);
    expect((await tap(`${view.url}&place=elsewhere`)).status).toBe(302);
  });

  const count = (url: string, init: RequestInit = {}) => tap(url, { method: "POST", body: "{}", ...init });

  test("a landing page of Telegram is named with its click id, and a call of the mini-app counts what the redirect counts, once", async () => {
    await landOn("tg://resolve?domain=quiz_bot&startapp={click_id}");
    const view = await open();
    const link = view.ad.call_to_action?.opens;
    expect(link).toEqual({ in: "telegram", link: expect.stringMatching(/^https:\/\/t\.me\/quiz_bot\?startapp=clk_/) });
    expect(await (await count(view.url)).json()).toMatchObject({ outcome: "not-counted" });
    await fixture.report(view, { started: true });
    const calls = [
      ...Array.from({ length: 8 }, () => count(view.url)),
      ...Array.from({ length: 8 }, () => tap(view.url)),
    ];
    const answers = await Promise.all(calls);
    expect(answers.map(({ status }) => status)).toEqual([...Array(8).fill(200), ...Array(8).fill(302)]);
    const [click, ...more] = await clicks();
    expect(more).toEqual([]);
    const page = `https://t.me/quiz_bot?startapp=${click?.click_id}`;
    expect([link, answers[8]?.headers.get("location")]).toEqual([{ in: "telegram", link: page }, page]);
    expect(await (await count(view.url)).json()).toMatchObject({ outcome: "not-counted" });
    const reopened = await open();
    expect(reopened.ad.call_to_action?.opens).toEqual(link);
  });

  test("the mini-app's call has the limits of the redirect, and any origin may make it", async () => {
    const view = await open();
    await fixture.report(view, { started: true });
    const crawler = { headers: { "user-agent": "TelegramBot (like TwitterBot)" } };
    await Promise.all([count(view.url.replace(/key=..../, "key=AAAA")), count(view.url, crawler)]);
    expect(await clicks()).toEqual([]);
    const counted = await count(view.url);
    expect(await counted.json()).toMatchObject({ outcome: "counted" });
    expect(counted.headers.get("access-control-allow-origin")).toBe("*");
    const answers = await Promise.all(Array.from({ length: 20 }, () => count(view.url)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get("access-control-allow-origin")).toBe("*");
    expect((await count(`${fixture.address}/player/v1/sessions/7-short/click?key=x`)).status).toBe(404);
  });

  test("a tag's and a companion's links of Telegram open there, whatever their form, and other pages in a browser", async () => {
    const companions = companion().replace(
      /<CompanionClickThrough>.*<\/CompanionClickThrough>/,
      "<CompanionClickThrough><![CDATA[tg://join?invite=AbC]]></CompanionClickThrough>",
    );
    const tag = inline({ companions }).replace(
      /<ClickThrough>.*<\/ClickThrough>/,
      "<ClickThrough><![CDATA[https://telegram.me/quiz_bot/play?startapp=[CLICKID]]]></ClickThrough>",
    );
    const ads = await startAdServer({ "/tag": tag, "/usual": inline() });
    await fixture.sellTag(`${ads.address}/tag`);
    const view = await open();
    await fixture.report(view, { started: true });
    const ofCard = view.ad.end_card?.call_to_action;
    expect(ofCard?.opens).toEqual({ in: "telegram", link: "https://t.me/+AbC" });
    expect(await (await count(ofCard?.url ?? "")).json()).toMatchObject({ outcome: "counted" });
    const [click] = await clicks();
    const link = `https://t.me/quiz_bot/play?startapp=${click?.click_id}`;
    expect(view.ad.call_to_action?.opens).toEqual({ in: "telegram", link });
    await fixture.callTrackers();
    expect(ads.callsOf("/companion/click")).toHaveLength(1);
    expect(ads.callsOf("/inline/click")).toEqual([]);
  });

  test("an unknown view and a malformed one get the same answer", async () => {
    const view = await open();
    const unknown = view.session_id.replace(/-..../, "-AAAA");
    for (const id of [unknown, "7", "7-short"]) {
      expect((await fetch(`${fixture.address}/player/v1/sessions/${id}/click?key=x`)).status).toBe(404);
    }
  });
});
