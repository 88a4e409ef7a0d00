import { randomBytes } from "node:crypto";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openBuyer } from "../../../examples/buyer.ts";
import { readConditions } from "../src/alerts/conditions.ts";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let stand: Awaited<ReturnType<typeof openBuyer>>;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  stand = await openBuyer();
  fixture = await openAppFixture(store.database, {
    operatorToken,
    requests: {
      isPlainHttpAllowed: true,
      allowedNetworks: { webhook: [], vast: ["127.0.0.1/32"], video: [], buyer: ["127.0.0.1/32"] },
    },
  });
});
afterAll(async () => {
  stand.close();
  await fixture.close();
  await store.dispose();
});

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${fixture.address}/operator/v1/buyers${path}`, {
    method,
    headers: {
      authorization: `Bearer ${operatorToken}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function add(url: string, key: string | null = null): Promise<string> {
  const { buyerId } = await send("POST", "", { name: `Exchange ${randomBytes(4).toString("hex")}`, url, key });
  return `/${String(buyerId)}`;
}

test("a key is never sent to another host: a new address without a key removes it, which the answer says", async () => {
  const buyer = await add("https://bids.exchange.example/openrtb2", "secret");
  const samePath = await send("PATCH", buyer, { url: "https://bids.exchange.example/openrtb3" });
  expect(samePath).toMatchObject({ hasKey: true, isKeyRemoved: false });
  const elsewhere = await send("PATCH", buyer, { url: stand.urlOf("bid") });
  expect(elsewhere).toMatchObject({ hasKey: false, isKeyRemoved: true });
  await send("POST", `${buyer}/trial`);
  expect(stand.calls.at(-1)?.headers).not.toHaveProperty("authorization");
  const named = await send("PATCH", buyer, { url: "https://other.example/", key: "another" });
  expect(named).toMatchObject({ hasKey: true, isKeyRemoved: false });
  expect(await send("PATCH", buyer, { url: "https://other.example:8443/" })).toMatchObject({ isKeyRemoved: true });
});

test("of eight changes of the address at once, none leaves the key to a host that it was not entered for", async () => {
  const buyer = await add("https://one.example/", "secret");
  const changes = Array.from({ length: 8 }, (_, index) =>
    send("PATCH", buyer, { url: `https://host-${index}.example/`, ...(index === 3 && { key: "of three" }) }),
  );
  const removed = (await Promise.all(changes)).filter(({ isKeyRemoved }) => isKeyRemoved).length;
  const { hasKey, url } = await send("GET", buyer);
  expect(hasKey).toBe(url === "https://host-3.example/");
  expect(removed, "the first key by whoever came first; that of the third by who came after it").toBeLessThanOrEqual(2);
  expect(removed).toBeGreaterThanOrEqual(hasKey ? 0 : 1);
});

test("a test reads the ad of the bid: what cannot be shown is named, and nothing is called", async () => {
  const outcomes = [
    ["bid", "accepted"],
    ["several", "accepted"],
    ["nurl", "accepted"],
    ["broken-vast", "broken-markup"],
    ["too-long", "other-duration"],
  ] as const;
  for (const [scenario, outcome] of outcomes) {
    const buyer = await add(stand.urlOf(scenario));
    expect(await send("POST", `${buyer}/trial`), scenario).toMatchObject({ outcome, isTest: true });
  }
  const [broken] = (await send("POST", `${await add(stand.urlOf("several"))}/trial`)).bids as { outcome: string }[];
  expect(broken?.outcome).toBe("lost");
  for (const path of ["/win", "/bill", "/loss", "/impression"]) expect(stand.callsOf(path), path).toEqual([]);
  const { count } = (
    await store.database.run<{ count: number }>(
      { name: "", text: "select count(*)::integer as count from tracker_calls" },
      [],
    )
  )[0] ?? { count: -1 };
  expect(count).toBe(0);
});

test("a test is of a viewer who needs no consent: the settings alone say what is sent, and a feed that requires the address is reached", async () => {
  const buyer = await add(stand.urlOf("bid"));
  await send("PATCH", buyer, { sends: ["user-id", "address"] });
  expect(await send("POST", `${buyer}/trial`)).toMatchObject({ outcome: "accepted", consent: "not-needed" });
  expect(stand.calls.at(-1)?.request).toMatchObject({
    user: { id: expect.any(String) },
    device: { ip: "192.0.2.1" },
    regs: { gdpr: 0 },
  });
  const feed = await add(stand.feedUrl, "792361");
  await send("PATCH", feed, { protocol: "richads", sends: ["address"] });
  expect(await send("POST", `${feed}/trial`)).toMatchObject({ outcome: "accepted", consent: "not-needed" });
  expect(stand.calls.at(-1)?.request).toMatchObject({ publisher_id: "792361", ip: "192.0.2.1", production: false });
});

test("a feed in dollars is refused where amounts are in another currency, and one that is there can only be turned off", async () => {
  const run = (text: string) => store.database.run({ name: "", text }, []);
  onTestFinished(async () => {
    await run("delete from deployment");
  });
  await run("insert into deployment (currency) values ('USD')");
  const buyer = await add(stand.urlOf("bid"));
  const feed = await add(stand.feedUrl, "792361");
  expect(await send("PATCH", feed, { protocol: "richads", isActive: true })).toMatchObject({ protocol: "richads" });
  await run("update deployment set currency = 'EUR'");
  const refused = { error: { code: "BAD_REQUEST", details: [{ field: "protocol", code: "FEED_IN_USD" }] } };
  const added = { name: "Feed in euros", url: stand.feedUrl, protocol: "richads" };
  expect(await send("POST", "", added)).toMatchObject(refused);
  expect(await send("POST", "", { ...added, protocol: "openrtb" }), "nothing of it was stored").toHaveProperty(
    "buyerId",
  );
  expect(await send("PATCH", buyer, { protocol: "richads" })).toMatchObject(refused);
  expect(await send("PATCH", feed, { isActive: true })).toMatchObject(refused);
  expect(await send("PATCH", feed, { isActive: false })).toMatchObject({ isActive: false });
});

test("the currency stays USD while a feed in dollars is on, and a change at the same time leaves none on", async () => {
  const run = (text: string) => store.database.run({ name: "", text }, []);
  onTestFinished(async () => {
    await run("update buyers set is_active = false");
    await run("delete from deployment");
  });
  await run("update buyers set is_active = false");
  await run("insert into deployment (currency) values ('USD')");
  const feed = await add(stand.feedUrl, "792361");
  await send("PATCH", feed, { protocol: "richads", sends: ["address"], isActive: true });
  const setCurrency = (currency: string) =>
    fetch(`${fixture.address}/operator/v1/currency?confirmed=true`, {
      method: "PUT",
      headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
      body: JSON.stringify({ currency }),
    });
  const refused = await setCurrency("EUR");
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({
    error: { code: "FEEDS_IN_USD", message: expect.stringContaining("--active no") },
  });
  await send("PATCH", feed, { isActive: false });
  await Promise.all([setCurrency("EUR"), ...Array.from({ length: 8 }, () => send("PATCH", feed, { isActive: true }))]);
  const [stored] = await store.database.run<{ currency: string }>(
    { name: "", text: "select currency from deployment" },
    [],
  );
  const { isActive } = await send("GET", feed);
  expect([stored?.currency, isActive]).not.toEqual(["EUR", true]);
});

test("a buyer that bids half as often is a condition, once there are enough requests, and its rates are shown", async () => {
  const buyer = await add(stand.urlOf("bid"));
  const buyerId = buyer.slice(1);
  await send("PATCH", buyer, { isActive: true });
  const now = fixture.clock.now;
  /** `bids` of 1,000 requests, spread evenly, that ended `hours` ago. */
  const offer = (bids: number, hours: number) =>
    store.database.run(
      {
        name: "",
        text: `insert into opening_offers (bot_id, request_id, source, outcome, took_ms, occurred_at)
          select '1', 'r' || n, $1, case when n <= $2 then 'lost' else 'no-bid' end, 10,
            $3::timestamptz - $4 * interval '1 hour' - n * interval '1 second' from generate_series(1, 1000) as n`,
      },
      [buyerId, bids, now, hours],
    );
  const fallen = async () =>
    (await readConditions(store.database, { now, currency: "USD" })).filter(({ cause }) => cause === "bids-fallen");
  await offer(800, 24);
  await offer(401, 1);
  expect(await fallen()).toEqual([]);
  await store.database.run(
    { name: "", text: "delete from opening_offers where occurred_at > $1::timestamptz - interval '3 hours'" },
    [now],
  );
  await offer(400, 1);
  expect(await fallen()).toMatchObject([{ objectId: buyerId, facts: { before: "80", now: "40" } }]);
  expect(await send("GET", `${buyer}/results`)).toMatchObject({ requests: 2000, bids: 1200, wins: 0, timeouts: 0 });
  const rest = (count: number) =>
    store.database.run(
      {
        name: "",
        text: `insert into opening_offers (bot_id, request_id, source, outcome, took_ms, occurred_at)
          select '1', 'o' || n, $1, 'resting', 0, $2::timestamptz - n * interval '1 millisecond' from generate_series(1, $3) as n`,
      },
      [buyerId, now, count],
    );
  await rest(8000);
  expect(await fallen(), "its requests are among the latest 10,000 openings").toHaveLength(1);
  await rest(1);
  expect(await fallen(), "no more openings than these are read").toEqual([]);
  await store.database.run({ name: "", text: "delete from opening_offers where outcome = 'resting'" }, []);
  await send("PATCH", buyer, { isActive: false });
  expect(await fallen(), "a buyer that is off").toEqual([]);
});

test("each source of ads has its revenue of seven days, and each buyer its rates", async () => {
  const run = (text: string, ...values: unknown[]) => store.database.run({ name: "", text }, values);
  const buyer = await add(stand.urlOf("bid"));
  const { buyerId, campaignId } = await send("GET", buyer);
  const day = fixture.clock.now.toISOString().slice(0, 10);
  await run(`insert into advertisers (advertiser_id, name, name_key) values ('adv_own', 'Own', 'own')`);
  await run(`insert into creatives (creative_id, name, kind, url, advertiser_id) values
    ('cre_tag', 'Tag', 'vast', 'https://tag.example/', 'adv_own')`);
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats) values
    ('cmp_own', 'Own', 'adv_own', '{direct_link}'), ('cmp_tag', 'Tag', 'adv_own', '{rewarded}')`);
  await run(`insert into campaign_creatives (campaign_id, creative_id) values ('cmp_tag', 'cre_tag')`);
  await run(
    `insert into campaign_days (campaign_id, day, views, clicks, spent_micros, shown, shown_micros) values
       ('cmp_own', $1, 0, 3, 900, 0, 0), ('cmp_own', $1::date - 7, 0, 100, 50000, 0, 0), ('cmp_tag', $1::date - 6, 2, 0, 500, 0, 0),
       ($2, $1, 1, 0, 1250, 4, 5000)`,
    day,
    campaignId,
  );
  await run(
    `insert into opening_offers (bot_id, request_id, source, outcome, took_ms, occurred_at)
     select '1', 's' || n, $1, (array['won', 'lost', 'timeout', 'no-bid', 'resting'])[n], 10, $2 from generate_series(1, 5) as n`,
    buyerId,
    fixture.clock.now,
  );
  const response = await fetch(`${fixture.address}/operator/v1/demand`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const { since, sources } = (await response.json()) as { since: string; sources: { buyerId: string | null }[] };
  expect(since).toBe(new Date(Date.parse(day) - 6 * 86_400_000).toISOString().slice(0, 10));
  const none = { requests: 0, bids: 0, wins: 0, timeouts: 0 };
  expect(sources.filter((source) => source.buyerId === null || source.buyerId === buyerId)).toMatchObject([
    { kind: "buyer", shown: 4, revenueMicros: 5000, requests: 4, bids: 2, wins: 1, timeouts: 1 },
    { kind: "own", shown: 3, revenueMicros: 900, ...none },
    { kind: "tags", shown: 2, revenueMicros: 500, ...none },
  ]);
});

test("a partner's report is compared with what was shown, by day of its time zone; an import again replaces its days", async () => {
  const run = (text: string, ...values: unknown[]) => store.database.run({ name: "", text }, values);
  const buyer = await add(stand.urlOf("bid"));
  const { buyerId, campaignId } = await send("GET", buyer);
  // 23:30 UTC is the next day in Berlin.
  await run(
    `insert into bought_impressions (bot_id, view_id, opened_at, campaign_id, price_micros, shown_at)
     select '1', 'r' || n, at, $1, 100000, at from (values (1, '2026-02-26T10:00:00Z'::timestamptz), (2, '2026-02-26T11:00:00Z'),
       (3, '2026-02-26T23:30:00Z'), (4, '2026-02-28T10:00:00Z')) as shown (n, at)`,
    campaignId,
  );
  const upload = (text: string, query = "day=Date&amount=Revenue&timeZone=Europe/Berlin") =>
    fetch(`${fixture.address}/operator/v1/buyers/${buyerId}/report?${query}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/octet-stream" },
      body: text,
    });
  const differences = async (threshold: number) => {
    const response = await fetch(
      `${fixture.address}/operator/v1/partner-differences?buyerId=${buyerId}&threshold=${threshold}`,
      { headers: { authorization: `Bearer ${operatorToken}` } },
    );
    return (await response.json()) as { days: number; differences: object[] };
  };
  const report =
    "Date,Impressions,Revenue\n2026-02-26,2,0.197\n2026-02-27,1,0.1\n2026-02-28,1,0.104\n2026-03-01,1,0.5\n";
  expect(await (await upload(report)).json()).toEqual({ buyerId, days: 4, from: "2026-02-26", to: "2026-03-01" });
  await Promise.all(Array.from({ length: 8 }, () => upload(report)));
  const first = { day: "2026-02-26", timeZone: "Europe/Berlin", theirImpressions: 2, ourImpressions: 2 };
  expect(await differences(0)).toMatchObject({
    days: 4,
    differences: [
      {
        day: "2026-03-01",
        ourImpressions: 0,
        ourMicros: 0,
        theirMicros: 500_000,
        differencePercent: null,
        level: "red",
      },
      { day: "2026-02-28", differencePercent: 4, level: "amber" },
      { ...first, theirMicros: 197_000, ourMicros: 200_000, differencePercent: -1.5, level: "green" },
    ],
  });
  expect((await differences(2)).differences).toMatchObject([{ day: "2026-03-01" }, { day: "2026-02-28" }]);

  const refused = await upload("Date,Revenue\n2026-02-26,free");
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { message: expect.stringContaining('row 2, column Revenue, what cannot be read: "free"') } },
  ]);
  // The partner's file leaves out the two days between.
  await run("delete from partner_days");
  await upload("Date,Revenue\n2026-02-26,0.2\n2026-03-01,0");
  expect(await differences(2)).toMatchObject({
    days: 4,
    differences: [
      { day: "2026-02-28", theirMicros: 0, theirImpressions: 0, differencePercent: -100, level: "red" },
      { day: "2026-02-27", theirMicros: 0, ourMicros: 100_000 },
    ],
  });
  await upload(report);
  await upload("Date,Revenue\n2026-03-01,0");
  expect((await differences(5)).differences, "nothing is owed, and nothing is said to be").toEqual([]);
});
