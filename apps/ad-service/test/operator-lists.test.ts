import { operatorRoutes } from "@intermission/operator-api/operator-routes";
import type { OperatorRoute } from "@intermission/operator-api/route";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
let botId: string;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  const run = (text: string) => store.database.run({ name: "", text: text.replaceAll("$bot", `'${botId}'`) }, []);
  for (let bot = 0; bot < 5; bot++) ({ botId } = await fixture.newBot());
  // Several of each kind have the same time: the id decides between them.
  const at = "timestamptz '2026-03-01T10:00Z' + n / 3 * interval '1 s'";
  await run(`insert into creatives (creative_id, kind, url, created_at)
    select 'cre_' || n, 'vast', 'https://tags.test/', ${at} from generate_series(1, 5) as n`);
  await run(
    "insert into advertisers (advertiser_id, name, name_key) select 'adv_' || n, 'Shop ' || n, 'shop ' || n from generate_series(1, 5) as n",
  );
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats, status, paused_by, created_at)
    select 'cmp_' || n, 'Sale', 'adv_' || n, '{rewarded}', case n when 5 then 'paused' else 'active' end,
      case n when 5 then 'operator' end, ${at}
    from generate_series(1, 5) as n`);
  await run(`insert into withheld_clicks (click_id, bot_id, code, user_id, campaign_id, outcome, suspicions, occurred_at)
    select 'clk_' || n, $bot, 'click' || n, '51' || n, 'cmp_1', 'held', '{mostly-taps}', ${at} from generate_series(1, 3) as n`);
  await run(`insert into events (event_id, bot_id, event, user_id, code, campaign_id, price_micros,
      revenue_micros, occurred_at, suspicions)
    select 'evt_' || n, $bot, 'direct_link', '61' || n, 'paid' || n, 'cmp_1', 1500, 1050, ${at}, '{mostly-taps}'
    from generate_series(4, 5) as n`);
  await run(`insert into deliveries (bot_id, event_id, state, due_at)
    select $bot, event_id, 'waiting', occurred_at from events`);
  await run(`insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
      closed_at, token_hash, state, suspicions)
    select $bot, $bot || '-vie' || repeat(n::text, 22), 'view' || n, '62' || n, 'cmp_1', 'cre_1', 10000, ${at}, now(), now(),
      '\\x00', 'held', '{too-even}' from generate_series(1, 5) as n`);
  await run(`insert into people (person_id, email, role, advertiser_id, totp_secret)
    select 'per_' || n, 'ann' || n || '@shop.test', case when n < 3 then 'advertiser' else 'owner' end,
      case when n < 3 then 'adv_' || 3 - n end, '\\x00' from generate_series(1, 5) as n`);
  await run(`insert into conversions (click_id, event, bot_id, campaign_id, occurred_at, clicked_at)
    select 'clk_1', 'step ' || n, $bot, 'cmp_1', ${at}, ${at} from generate_series(1, 5) as n`);
  await run("insert into task_bots (task_bot_id, username, token) values ('7', 'tasks_bot', '\\x00')");
  await run(`insert into task_channels (chat_id, task_bot_id, title, rights, checked_at)
    select '-100' || n, '7', 'Channel', 'ready', now() from generate_series(1, 5) as n`);
  await run(`insert into tasks (code, bot_id, user_id, campaign_id, chat_id, price_micros, hold_days, paid_at, state, was_out,
      offered_at, expires_at)
    select 'task' || n, $bot, '63' || n, 'cmp_1', '-1001', 5000, 7, 'joined', 'offered', true, ${at}, now()
    from generate_series(1, 5) as n`);
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function get(path: string, query: Record<string, string> = {}) {
  const answer = await fetch(`${fixture.address}/operator/v1${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function pagesOf(path: string, key: string, { cursor = "after", ...query }: Record<string, string>) {
  const entries: unknown[] = [];
  let next: unknown;
  for (let page = 0; page < 10 && next !== null; page++) {
    const { status, body } = await get(path, { ...query, ...(typeof next === "string" && { [cursor]: next }) });
    expect(status).toBe(200);
    entries.push(...z.array(z.unknown()).parse(body[key]));
    next = body.next;
  }
  return entries;
}

const lists = [
  { path: "/bots", key: "bots", query: { order: "oldest" } },
  { path: "/bots", key: "bots", query: { order: "newest" } },
  { path: "/campaigns", key: "campaigns", query: { order: "oldest" } },
  { path: "/campaigns", key: "campaigns", query: { order: "newest" } },
  { path: "/creatives", key: "creatives", query: { order: "oldest" } },
  { path: "/creatives", key: "creatives", query: { order: "newest" } },
  { path: "/advertisers", key: "advertisers", query: {} },
  { path: "/endpoints", key: "endpoints", query: {} },
  { path: "/views", key: "views", query: {} },
  { path: "/clicks", key: "clicks", query: {} },
  { path: "/conversions", key: "conversions", query: {} },
  { path: "/people", key: "people", query: {} },
  { path: "/people", key: "people", query: { sort: "-sees" } },
  { path: "/money/publishers", key: "publishers", query: {} },
  { path: "/money/publishers", key: "publishers", query: { sort: "-owed" } },
  { path: "/money/publishers", key: "publishers", query: { sort: "paid" } },
  { path: "/task-channels", key: "channels", query: {} },
  { path: "/tasks", key: "tasks", query: { campaignId: "cmp_1" } },
];

test.each(lists)("the pages of $path ($query) are the whole list, each entry once", async ({ path, key, query }) => {
  const whole = (await get(path, query)).body[key] as unknown[];
  expect(whole).toHaveLength(5);
  expect(await pagesOf(path, key, { ...query, limit: "2" })).toEqual(whole);
  expect(await pagesOf(path, key, { ...query, limit: "5" })).toEqual(whole);
});

test("the pages of deliveries continue before the last event", async () => {
  expect(await pagesOf("/deliveries", "deliveries", { limit: "1", cursor: "before" })).toHaveLength(2);
});

test.each(["/bots", "/campaigns", "/creatives", "/conversions", "/people", "/money/publishers", "/tasks"])(
  "an unknown cursor of %s is refused, and is no empty page",
  async (path) => {
    const { status } = await get(path, { after: "7" });
    expect([400, 404]).toContain(status);
  },
);

test("lists are filtered by advertiser, status, kind and name", async () => {
  const ids = async (query: Record<string, string>) =>
    ((await get("/campaigns", query)).body.campaigns as { campaignId: string }[]).map(({ campaignId }) => campaignId);
  expect(await ids({ advertiser: "SHOP 2" })).toEqual(["cmp_2"]);
  expect(await ids({ status: "paused" })).toEqual(["cmp_5"]);
  expect((await get("/creatives", { kind: "file" })).body.creatives).toEqual([]);
  expect((await get("/advertisers", { name: "op 3" })).body.advertisers).toMatchObject([{ name: "Shop 3" }]);
  expect((await get("/endpoints", { state: "active" })).body.endpoints).toEqual([]);
  expect((await get("/bots", { suspended: "true" })).body.bots).toEqual([]);
});

test("people are sorted by what they see and found by the name of their advertiser, and counted", async () => {
  const emails = async (query: Record<string, string>) => {
    const { body } = await get("/people", { limit: "2", ...query });
    return [(body.people as { email: string }[]).map(({ email }) => email), body.total];
  };
  expect(await emails({ role: "advertiser", sort: "sees" })).toEqual([["ann2@shop.test", "ann1@shop.test"], 2]);
  expect(await emails({ sort: "-role" })).toEqual([["ann2@shop.test", "ann1@shop.test"], 5]);
  expect(await emails({ find: "HOP 2 ANN1" })).toEqual([["ann1@shop.test"], 1]);
  expect(await emails({ find: "nobody" })).toEqual([[], 0]);
});

test("publishers are found by the name of their bot in any case, and only those are counted", async () => {
  await store.database.run({ name: "", text: "update bots set name = 'Café Зима' where bot_id = $1" }, [botId]);
  const { body } = await get("/money/publishers", { find: "зИМА Cafe\u0301", state: "due" });
  expect(body).toMatchObject({ publishers: [], total: 0, totalPayableMicros: 0 });
  const { body: found } = await get("/money/publishers", { find: "зИМА Cafe\u0301" });
  expect(found).toMatchObject({ publishers: [{ botId }], total: 1, next: null });
});

/** Two at most by the settings, the few of one person that may be added, open or unfinished, and the origins of a bot. */
const fewOfEach = new Set([
  "listSignInProviders",
  "listSignInMethods",
  "listOwnSessions",
  "listUploads",
  "listAppOrigins",
]);

test("every list is bounded", () => {
  const routes: [string, OperatorRoute][] = Object.entries(operatorRoutes);
  for (const [name, { query }] of routes.filter(([name]) => name.startsWith("list") && !fewOfEach.has(name))) {
    const { shape } = query instanceof z.ZodObject ? query : z.object({});
    expect(Object.keys(shape), name).toContain("limit");
    for (const limit of ["0", "1001", "many"]) expect(query?.safeParse({ limit }).success, name).toBe(false);
  }
});
