import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { addCampaign } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "o".repeat(32);
const lines: string[] = [];
let store: TestDatabase;
let send: (
  path: string,
  body: object,
  method?: "GET" | "POST",
) => Promise<{ status: number; body: Record<string, unknown> }>;
let botId: string;

/** Three held clicks, of which one is the network's, and two that were paid although they were suspicious; as many views. */
beforeEach(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  const { database } = store;
  lines.length = 0;
  const fixture = await openAppFixture(database, { operatorToken }, { log: (line) => void lines.push(line) });
  onTestFinished(async () => {
    await fixture.close();
    await store.dispose();
  });
  ({ botId } = await fixture.newBot());
  const run = (text: string) => database.run({ name: "", text: text.replaceAll("$bot", `'${botId}'`) }, []);
  await run("insert into creatives (creative_id, kind, url) values ('cre_1', 'vast', 'https://tags.test/')");
  const prices = {
    clickPriceMicros: 1500,
    viewPriceMicros: 2000,
    landingUrl: "https://shop.test/",
    creativeIds: ["cre_1"],
  };
  const campaign = { name: "Shop", advertiser: "Shop", formats: ["direct_link" as const, "rewarded" as const] };
  const added = await addCampaign(database, { ...campaign, ...prices, campaignId: "cmp_1", now: fixture.clock.now });
  expect(added).toMatchObject({ outcome: "added" });
  await run(`insert into withheld_clicks (click_id, bot_id, code, user_id, campaign_id, outcome, suspicions, network_hash, occurred_at)
    select 'clk_' || n, $bot, 'code' || n, '60' || n, 'cmp_1', 'held', array[case n when 1 then 'crowded-network' else 'mostly-taps' end],
      '\\x0102030405', '2026-03-01T10:00Z' from generate_series(1, 3) as n`);
  await run(`insert into events (event_id, bot_id, event, user_id, code, campaign_id, price_micros, revenue_micros, occurred_at, suspicions)
    select 'evt_c' || n, $bot, 'direct_link', '61' || n, 'paid' || n, 'cmp_1', 1500, 1050, '2026-03-01T10:00Z', '{mostly-taps}'
    from generate_series(1, 2) as n`);
  await run(`insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
      closed_at, token_hash, state, suspicions)
    select $bot, $bot || '-vie' || repeat(n::text, 22), 'view' || n, '62' || n, 'cmp_1', 'cre_1', 10000, '2026-03-01T10:00Z',
      '2026-03-01T11:00Z', '2026-03-01T10:01Z', '\\x00', case when n < 3 then 'held' else 'rewarded' end, '{too-even}'
    from generate_series(1, 3) as n`);
  await run(`insert into events (event_id, bot_id, event, user_id, code, campaign_id, price_micros, revenue_micros, occurred_at)
    values ('evt_v3', $bot, 'rewarded', '623', 'view3', 'cmp_1', 2000, 1400, '2026-03-01T10:01Z')`);
  send = async (path, payload, method = "POST") => {
    const headers = { authorization: `Bearer ${operatorToken}` };
    const answer = await fixture.app.inject({
      method,
      url: `/operator/v1/${path}`,
      headers,
      ...(method === "POST" && { payload }),
    });
    return { status: answer.statusCode, body: answer.json() };
  };
});

const confirmed = "?confirmed=true";
const done = (decided: number) => ({ status: 200, body: { decided, skipped: 0, left: 0 } });

test("the lists of suspicious views and clicks take the same filters", async () => {
  const listed = async (path: string, key: string) => {
    const { body } = await send(path, {}, "GET");
    return (body[key] as Record<string, string>[]).map(({ clickId, sessionId }) => clickId ?? sessionId?.slice(-1));
  };
  expect(await listed("clicks?suspicion=mostly-taps&state=held", "clicks")).toEqual(["clk_3", "clk_2"]);
  expect(await listed("clicks?network=01020304", "clicks")).toHaveLength(3);
  expect(await listed("clicks?userId=612", "clicks")).toEqual(["clk_c2"]);
  expect(await listed("views?userId=622&campaignId=cmp_1", "views")).toEqual(["2"]);
  expect(await listed("views?from=2026-03-01T10:02:00Z", "views")).toEqual([]);
});

test("many clicks are released, refused and refunded by a filter, first with their number and price, and never twice", async () => {
  const counted = await send("clicks/release", { botId, suspicion: "mostly-taps" });
  expect(counted.status).toBe(409);
  expect(JSON.stringify(counted.body)).toMatch(/held clicks that are paid: 2\. .* are charged 0\.003 USD/);
  expect(await send(`clicks/release${confirmed}`, { botId, suspicion: "mostly-taps" })).toEqual(done(2));
  expect(await send("clicks/release", { botId, suspicion: "mostly-taps" })).toEqual(done(0));
  expect(await send(`clicks/refuse${confirmed}`, { network: "01020304" })).toEqual(done(1));
  // Those that were paid at once, and the two that were released.
  expect(JSON.stringify((await send("clicks/refund", { campaignId: "cmp_1" })).body)).toContain("refunded: 4. ");
  expect(await send(`clicks/refund${confirmed}`, { userId: "611" })).toEqual(done(1));
  expect(await send(`clicks/refund${confirmed}`, { campaignId: "cmp_1" })).toEqual(done(3));
  expect(await send(`clicks/refund${confirmed}`, { campaignId: "cmp_1" })).toEqual(done(0));
  const refunds = await store.database.run<{ sum: string }>(
    { name: "", text: "select sum(price_micros)::text as sum from refunds" },
    [],
  );
  expect(refunds).toEqual([{ sum: "6000" }]);
  expect(lines.filter((line) => line.includes('"decision":"refund"'))).toHaveLength(4);
});

test("many views are decided in the same way, also of a period; a filter that is none is refused", async () => {
  expect(await send(`views/release${confirmed}`, { from: "2026-03-01T10:02:00Z" })).toEqual(done(0));
  expect(await send(`views/release${confirmed}`, { userId: "621", to: "2026-03-01T10:02:00Z" })).toEqual(done(1));
  expect(await send(`views/refuse${confirmed}`, { botId })).toEqual(done(1));
  expect(await send(`views/refund${confirmed}`, { suspicion: "too-even" })).toEqual(done(2));
  const wrong = { from: "2026-03-02", to: "2026-03-01" };
  expect(await send(`views/refund${confirmed}`, wrong)).toMatchObject({ status: 400 });
  expect(await send(`views/refund${confirmed}`, { state: "held" })).toMatchObject({ status: 400 });
});
