import { parseWebhookEvent } from "@intermission/ad-core/webhook-event";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { crawlerAgents } from "@intermission/testing/visitor-agents";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { newAddress, openDirectLinkFixture } from "../../test/fixtures/direct-link-fixture.ts";
import { migrations } from "../migrations.ts";
import { directLinkRoutes } from "./routes.ts";

describe("direct links", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof openDirectLinkFixture>>;

  const open = async (settings: Parameters<typeof openDirectLinkFixture>[2] = {}) => {
    fixture = await openDirectLinkFixture(store.database, directLinkRoutes, settings);
    return fixture;
  };
  const outcomes = async () => (await fixture.clicks()).map(({ outcome }) => outcome);

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  test("a landing page of Telegram is redirected to as any other: there is no client around the link to open it", async () => {
    const { visit, issue, setStatus } = await open();
    await setStatus("paused");
    await fixture.addCampaign("https://t.me/quiz_bot?start={click_id}");
    const { status, headers } = await visit(await issue());
    const [click] = await fixture.clicks();
    expect([status, headers.location]).toEqual([302, `https://t.me/quiz_bot?start=${click?.click_id}`]);
  });

  test("a person is sent to the landing page, and the code earns", async () => {
    const { visit, issue, botId, campaignId } = await open();
    const code = await issue("501", "order 7");
    const { status, headers } = await visit(code);
    expect(status).toBe(302);
    const [click] = await fixture.clicks();
    expect(headers.location).toBe(
      `https://shop.test/p?c=${click?.click_id}&code=${code}&b=${botId}&k=${campaignId}&r=`,
    );
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-robots-tag": "noindex, nofollow",
      "referrer-policy": "no-referrer",
    });
    const [event, ...others] = await fixture.events();
    expect(others).toEqual([]);
    expect(parseWebhookEvent(Buffer.from(event?.body ?? ""))).toMatchObject({
      outcome: "valid",
      event: {
        event: "direct_link",
        user_tg_id: "501",
        bot_id: botId,
        code,
        reference: "order 7",
        event_id: event?.event_id,
      },
    });
    expect(await fixture.charges()).toMatchObject([{ code, price_micros: 1500 }]);
    expect(await fixture.viewers()).toMatchObject([{ user_id: "501", earned_today: 1 }]);
    expect(click).toMatchObject({ outcome: "counted", campaign_id: campaignId });
  });

  test("64 simultaneous requests on two nodes pay once, and all of them reach the landing page", async () => {
    const { visit, issue } = await open();
    const code = await issue();
    const answers = await Promise.all(Array.from({ length: 64 }, (_, index) => visit(code, {}, index % 2)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([302]));
    expect(await fixture.events()).toHaveLength(1);
    expect(await fixture.charges()).toHaveLength(1);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect(await fixture.refusals()).toEqual({ used: 63 });
    expect((await outcomes()).filter((outcome) => outcome === "counted")).toHaveLength(1);
  });

  test("machines get a page, earn nothing and do not use up the code", async () => {
    const { visit, issue } = await open();
    const code = await issue();
    for (const agent of crawlerAgents) {
      const { status, headers, body } = await visit(code, { headers: { "user-agent": agent } });
      expect(status, agent).toBe(200);
      expect(headers["cache-control"], agent).toBe("no-store");
      expect(body, agent).toContain("Open this link in your browser");
    }
    expect((await visit(code, { method: "HEAD" })).status).toBe(200);
    expect((await visit(code, { headers: { "sec-purpose": "prefetch;prerender" } })).status).toBe(204);
    expect((await visit(code, { headers: { "user-agent": "" } })).status).toBe(200);
    expect((await visit(code, { headers: { "user-agent": undefined } })).status).toBe(200);
    expect((await visit(code, { method: "POST", headers: { "user-agent": "curl/8.5.0" } })).status).toBe(200);
    expect(await fixture.events()).toEqual([]);
    expect(await fixture.charges()).toEqual([]);
    expect(await fixture.viewers()).toEqual([]);
    expect(new Set(await outcomes())).toEqual(
      new Set(["machine-crawler", "machine-head", "machine-prefetch", "machine-empty-agent"]),
    );

    expect((await visit(code)).status).toBe(302);
    expect(await fixture.events()).toHaveLength(1);
  });

  test("a link after a view of the same code earns its own event, once", async () => {
    const { visit, issue, earnByView } = await open();
    const code = await issue();
    await earnByView(code);
    expect((await visit(code)).status).toBe(302);
    expect((await visit(code)).status).toBe(302);
    expect((await fixture.events()).map(({ event, code }) => [event, code]).sort()).toEqual([
      ["direct_link", code],
      ["rewarded", code],
    ]);
  });

  test("an address over its limits needs one tap, which counts", async () => {
    const { visit, issue, advance } = await open();
    const address = newAddress();
    expect((await visit(await issue("601"), { address })).status).toBe(302);
    advance(59);
    const code = await issue("602");
    const tapPage = await visit(code, { address });
    expect(tapPage.status).toBe(200);
    expect(tapPage.headers["referrer-policy"]).toBe("same-origin");
    expect(tapPage.body).toContain(`<form method="post" action="/${code}">`);
    expect(await fixture.events()).toHaveLength(1);

    expect((await fixture.tap(tapPage, { address })).status).toBe(303);
    expect(await fixture.events()).toHaveLength(2);
    expect(await outcomes()).toEqual(expect.arrayContaining(["counted", "tap-asked-address", "counted"]));
  });

  test.each([
    ["a second within a minute", 1, 59, 60],
    ["a fourth within ten minutes", 3, 70, 600],
  ])("%s needs a tap; after that time it does not", async (_what, clicks, apart, window) => {
    const { visit, issue, advance } = await open();
    const address = newAddress();
    const userOf = (index: number) => `7${clicks}${index}`;
    for (let index = 0; index < clicks; index++) {
      expect((await visit(await issue(userOf(index)), { address })).status).toBe(302);
      advance(apart);
    }
    const code = await issue("799");
    expect((await visit(code, { address })).status).toBe(200);
    advance(window - clicks * apart);
    expect((await visit(code, { address })).status).toBe(302);
  });

  test("a doubtful visitor needs one tap; another site's form is not accepted as a tap", async () => {
    const { visit, issue } = await open();
    const code = await issue();
    const address = newAddress();
    const page = await visit(code, { address, headers: { "sec-fetch-dest": "iframe" } });
    expect(page.body).toContain("<form");
    const foreign = { "sec-fetch-site": "cross-site", origin: "https://evil.test" };
    expect((await fixture.tap(page, { address, headers: foreign })).body).toContain("<form");
    expect(await fixture.events()).toEqual([]);
    expect((await fixture.tap(page, { address })).status).toBe(303);
    expect(await fixture.events()).toHaveLength(1);
  });

  test("two codes of one user, followed at the same time, pass the cooldown once", async () => {
    const { visit, issue, advance } = await open({ cooldownSeconds: 60 });
    const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => issue("501", `order ${index}`)));
    const answers = await Promise.all(codes.map((code, index) => visit(code, {}, index % 2)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 429, 429, 429, 429, 429, 429, 429]);
    expect(await fixture.events()).toHaveLength(1);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);

    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.headers["retry-after"]).toBe("60");
    expect(refused?.body).toContain("in 1 minute");
    const waiting = codes.filter((_, index) => answers[index]?.status === 429);
    advance(60);
    expect((await visit(waiting[0] ?? "")).status).toBe(302);
  });

  test("many codes of one user without a cooldown all count, up to the daily cap", async () => {
    const { visit, issue, advance } = await open({ dailyCap: 5 });
    const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => issue("501", `order ${index}`)));
    const answers = await Promise.all(codes.map((code, index) => visit(code, {}, index % 2)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(5);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toContain("in 12 hours");
    expect(await fixture.events()).toHaveLength(5);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 5 }]);
    advance(12 * 3600);
    expect((await visit(await issue("501"))).status).toBe(302);
  });

  test("a view in progress on another code counts towards the daily cap as if it had earned", async () => {
    const { visit, issue, beginView } = await open({ dailyCap: 3 });
    const watched = await Promise.all(["a", "b"].map((reference) => issue("501", reference)));
    for (const code of watched) await beginView(code);
    const codes = await Promise.all(Array.from({ length: 8 }, (_, index) => issue("501", `order ${index}`)));
    const answers = await Promise.all(codes.map((code, index) => visit(code, {}, index % 2)));
    expect(answers.map(({ status }) => status).sort()).toEqual([302, 429, 429, 429, 429, 429, 429, 429]);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    // The link is the fallback of its view: the view of the same code does not block it.
    expect((await visit(watched[0] ?? "")).status).toBe(302);
  });

  test("a view in progress applies the cooldown to links of other codes, but not to its own", async () => {
    const { visit, issue, advance, beginView } = await open({ cooldownSeconds: 60 });
    const [watched, other] = [await issue("501", "a"), await issue("501", "b")];
    await beginView(watched);
    advance(59);
    expect((await visit(other)).status).toBe(429);
    expect((await visit(watched)).status).toBe(302);
  });

  test("without a cooldown no click is refused because a node with a faster clock counted another one first", async () => {
    const { visit, issue, advance } = await open({ cooldownSeconds: 0 });
    const codes = [await issue("501", "a"), await issue("501", "b")];
    expect((await visit(codes[0] ?? "")).status).toBe(302);
    advance(-0.005);
    expect((await visit(codes[1] ?? "", {}, 1)).status).toBe(302);
  });

  test("if one user follows more links than can be judged at once, the rest must be retried and are not used up", async () => {
    const { visit, issue } = await open({ dailyCap: 100 });
    const codes = await Promise.all(Array.from({ length: 50 }, (_, index) => issue("501", `order ${index}`)));
    const answers = await Promise.all(codes.map((code) => visit(code)));
    expect(answers.filter(({ status }) => status !== 302 && status !== 503)).toEqual([]);
    const refused = codes.filter((_, index) => answers[index]?.status === 503);
    for (const code of refused) expect((await visit(code)).status).toBe(302);
    expect(await fixture.events()).toHaveLength(50);
  });

  test("expired, unknown and malformed links have pages that say what to do", async () => {
    const { visit, issue, advance } = await open();
    const code = await issue();
    advance(3600);
    const expired = await visit(code, { headers: { "accept-language": "ru-RU,ru;q=0.9,en;q=0.8" } });
    expect(expired.status).toBe(410);
    expect(expired.body).toContain("Срок действия ссылки истёк");
    expect(expired.body).toContain('href="https://t.me/coin_bot"');
    expect(expired.body).toContain("Coins &amp; &quot;Co&quot; &lt;b&gt;");
    expect(expired.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(await outcomes()).toEqual(["expired"]);
    for (const text of [`${code.slice(0, 6)}2222222222zz`, "ABCDEFGHJKMNPQRSTU", "halfALink"]) {
      const unknown = await visit(text);
      expect(unknown.status, text).toBe(404);
      expect(unknown.body, text).toContain("This link leads nowhere");
    }
    expect(await fixture.events()).toEqual([]);
  });

  test("a link earns in each form in which people send it, once", async () => {
    const { visit, issue } = await open({ dailyCap: 1000 });
    const forms = (code: string) => [
      `${code}/`,
      `${code}/?fbclid=IwAR0x`,
      `/${code}`,
      `${code}.`,
      `${code})`,
      `${code}%20`,
      `${code}%0A`,
      `${code}%E2%80%8B`,
      `%EF%BB%BF${code}`,
      `${code}%3Ffbclid=IwAR0x`,
      `${code}&amp;utm_source=x`,
      `${code};x`,
      `${code}#x`,
      `${code}%C2%BB`,
      `${code}%zz`,
      `${code}%`,
      `${code}"`,
      `(${code})`,
    ];
    const earned: string[] = [];
    for (const index of forms("").keys()) {
      const code = await issue(`90${index}`);
      const form = forms(code)[index] ?? "";
      const { status, headers } = await visit(form);
      expect([form, status, headers.location]).toEqual([form, 302, expect.stringContaining(`&code=${code}&`)]);
      expect((await visit(code)).status).toBe(302);
      earned.push(code);
    }
    expect((await fixture.charges()).map(({ code }) => code).sort()).toEqual(earned.sort());
  });

  test("machines, prefetches, HEAD and taps are judged alike in every form of a link", async () => {
    const { visit, issue } = await open();
    const code = await issue();
    for (const form of [`${code}/?fbclid=1`, `${code}.`, `/${code}%E2%80%8B`]) {
      expect((await visit(form, { method: "HEAD" })).status).toBe(200);
      expect((await visit(form, { headers: { purpose: "prefetch" } })).status).toBe(204);
      const preview = await visit(form, { headers: { "user-agent": crawlerAgents[0] } });
      expect(preview.body).toContain("Open this link in your browser");
      expect((await visit(form, { method: "POST" })).body).toContain("<form");
    }
    expect(await fixture.events()).toEqual([]);
    const address = newAddress();
    const page = await visit(`${code}.`, { address, headers: { "accept-language": undefined } });
    expect(page.headers["set-cookie"]?.[0]).toContain(`; Path=/${code};`);
    expect(page.body).toContain(`action="/${code}"`);
    expect((await fixture.tap(page, { address: newAddress() })).status).toBe(303);
    expect(await fixture.events()).toHaveLength(1);
  });

  test("letters that make a code another word lead to the page of unknown links, in every form", async () => {
    const { visit, issue } = await open();
    const code = await issue();
    const words = [`${code}X`, `${code}2`, code.slice(1), `x${code}`, `${code.slice(0, -1)}0`];
    for (const word of words) {
      for (const form of [word, `${word}/`, `${word}.`, `${word}%20`, `/${word}/?fbclid=1`]) {
        const { status, body } = await visit(form);
        expect([form, status]).toEqual([form, 404]);
        expect(body).toContain("This link leads nowhere");
      }
    }
    expect(await fixture.events()).toEqual([]);
  });

  test("a used link still leads to the landing page after its code expired", async () => {
    const { visit, issue, advance } = await open();
    const code = await issue();
    await visit(code);
    advance(7200);
    expect((await visit(code)).headers.location).toContain("https://shop.test/p?");
    expect(await fixture.events()).toHaveLength(1);
  });

  test("without a campaign, or with its bot suspended, the code is not used up", async () => {
    const { visit, issue, setStatus, suspend } = await open();
    const code = await issue();
    await setStatus("paused");
    expect((await visit(code)).body).toContain("No ad right now");
    await setStatus("active");
    expect((await visit(code)).status).toBe(302);
    const other = await issue("502");
    await suspend();
    expect((await visit(other)).body).toContain("No ad right now");
    expect(await outcomes()).toEqual(expect.arrayContaining(["no-ad", "bot-suspended"]));
    expect(await fixture.events()).toHaveLength(1);
  });

  test("an ordinary click is stored without its visitor, one within a second of its code with it", async () => {
    const { visit, issue, advance } = await open();
    const code = await issue("801");
    await visit(await issue("802"));
    advance(5);
    await visit(code);
    const whole = { user_agent: expect.any(String), address_hash: expect.any(Buffer) };
    expect(await fixture.clicks()).toMatchObject([whole, { user_agent: null, address_hash: null }]);
  });

  test("addresses are stored as a hash that cannot be linked to the next day's", async () => {
    const { visit, issue, advance } = await open();
    const address = "2001:db8:1:2:3:4:5:6";
    await visit(await issue("801"), { address });
    advance(7200);
    await visit(await issue("802"), { address: "2001:db8:1:2:ffff::1" });
    advance(24 * 3600);
    await visit(await issue("803"), { address });
    const hashes = (await fixture.clicks()).map(({ address_hash }) => address_hash.toString("hex"));
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[2]).not.toBe(hashes[0]);
  });

  test("data sent by a visitor is stored with bounded length", async () => {
    const { visit, issue } = await open();
    await visit(await issue(), { headers: { "user-agent": `Mozilla/5.0 ${"é".repeat(5000)}` } });
    expect((await fixture.clicks())[0]?.user_agent.length).toBe(256);
  });
});
