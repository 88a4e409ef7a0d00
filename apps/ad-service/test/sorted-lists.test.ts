import { botSorts } from "@intermission/operator-api/bots";
import { campaignPhases, campaignSorts } from "@intermission/operator-api/campaign-words";
import { creativeSorts } from "@intermission/operator-api/creative-words";
import { endpointSorts } from "@intermission/operator-api/endpoints";
import { moneySorts } from "@intermission/operator-api/money";
import { findPatterns } from "@intermission/postgres/find-patterns";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
const botIds: string[] = [];
const run = <Row>(text: string) => store.database.run<Row>({ name: "", text }, []);

beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  fixture.clock.now = new Date("2026-03-11T00:00:00Z");
  for (let bot = 0; bot < 6; bot++) botIds.push((await fixture.newBot({ name: `Bot ${bot % 3}` })).botId);
  await run("update bots set category = 'games', name = 'Coin Garden' where name = 'Bot 1'");
  await run(`insert into advertisers (advertiser_id, name, name_key, state)
    select 'adv_' || n, 'Shop ' || n, 'shop ' || n, case when n % 3 = 0 then 'archived' else 'active' end
    from generate_series(1, 6) as n`);
  // Equal values and missing ones, so that the id decides.
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats, status, paused_by, created_at, starts_at, ends_at,
      daily_budget_micros, total_budget_micros)
    select 'cmp_' || lpad(n::text, 2, '0'), case when n % 2 = 0 then 'Весенняя РАСПРОДАЖА ' else 'winter Sale ' end || n % 4,
      'adv_' || n % 4 + 1, array[case when n % 5 = 0 then 'rewarded' else 'direct_link' end],
      case when n = 7 then 'paused' when n = 8 then 'archived' else 'active' end, case when n = 7 then 'operator' end,
      timestamptz '2026-03-01T00:00Z' + n / 3 * interval '1 s', '2026-03-01',
      case when n % 3 > 0 then timestamptz '2026-03-10T00:00Z' + n % 3 * interval '2 days' end,
      case when n % 4 > 0 then n % 4 * 1000000 end, case when n % 5 > 0 then n % 5 * 1000000 end
    from generate_series(1, 20) as n`);
  await run(`insert into campaign_days (campaign_id, day, clicks, spent_micros)
    select campaign_id, '2026-03-05', 1, 100000 * (row_number() over (order by campaign_id) % 4) from campaigns`);
  await run(`insert into creatives (creative_id, name, kind, url, review, advertiser_id, created_at, duration_ms, byte_length)
    select 'cre_' || n, case when n % 3 > 0 then 'Clip ' || n % 3 end, 'vast', 'https://tags.test/' || n,
      case when n % 2 = 0 then 'waiting' else 'approved' end, case when n % 3 > 0 then 'adv_' || n % 3 end,
      timestamptz '2026-03-01T00:00Z' + n / 2 * interval '1 s', nullif(n % 4, 0) * 1000, nullif(n % 4, 0) * 1000
    from generate_series(1, 9) as n`);
  await run("insert into campaign_creatives (campaign_id, creative_id) select campaign_id, 'cre_1' from campaigns");
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

type Row = Record<string, unknown>;

async function page(path: string, query: Record<string, string>) {
  const answer = await fetch(`${fixture.address}/operator/v1${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  });
  const body = (await answer.json()) as Row & { next: string | null; total: number };
  expect([answer.status, body]).toEqual([200, body]);
  return body;
}

const lists = [
  {
    path: "/campaigns",
    key: "campaigns",
    id: "campaignId",
    sorts: campaignSorts,
    query: { archived: "true" },
    count: 20,
  },
  { path: "/creatives", key: "creatives", id: "creativeId", sorts: creativeSorts, query: {}, count: 9 },
  { path: "/bots", key: "bots", id: "botId", sorts: botSorts, query: {}, count: 6 },
  { path: "/endpoints", key: "endpoints", id: "botId", sorts: endpointSorts, query: {}, count: 6 },
  { path: "/money/advertisers", key: "advertisers", id: "advertiserId", sorts: moneySorts, query: {}, count: 6 },
];
const orders = lists.flatMap(({ sorts, ...list }) =>
  sorts.flatMap((sort) => [sort, `-${sort}`]).map((sort) => ({ ...list, sort })),
);
const idsOf = (body: Row, { key, id }: { key: string; id: string }) => (body[key] as Row[]).map((row) => row[id]);

test.each(orders)("the pages of $path in the order $sort are the whole list, each entry once", async (list) => {
  const query = { ...list.query, sort: list.sort };
  const whole = idsOf(await page(list.path, query), list);
  expect(new Set(whole).size).toBe(list.count);
  const read: unknown[] = [];
  let next: string | null = "";
  while (next !== null) {
    const body = await page(list.path, { ...query, limit: "4", ...(next !== "" && { after: next }) });
    // Not every list counts what it has.
    expect(body.total ?? list.count).toBe(list.count);
    read.push(...idsOf(body, list));
    ({ next } = body);
  }
  expect(read).toEqual(whole);
});

test("an order puts rows without a value last in both directions, and equal ones by their ids", async () => {
  const budgets = async (sort: string) => {
    const { campaigns } = await page("/campaigns", { archived: "true", sort });
    return (campaigns as Row[]).map(({ dailyBudgetMicros }) => dailyBudgetMicros as number | null);
  };
  const [up, down] = [await budgets("daily"), await budgets("-daily")];
  expect(up.slice(-5)).toEqual([null, null, null, null, null]);
  expect(down.slice(-5)).toEqual([null, null, null, null, null]);
  expect(up.slice(0, 15)).toEqual(down.slice(0, 15).toReversed());
  const { campaigns } = await page("/campaigns", { archived: "true", sort: "-spent", limit: "3" });
  const spent = (campaigns as { campaignId: string; delivered: { spentMicros: number } }[]).map(
    ({ campaignId, delivered }) => [campaignId, delivered.spentMicros],
  );
  expect(spent).toEqual([
    ["cmp_19", 300_000],
    ["cmp_15", 300_000],
    ["cmp_11", 300_000],
  ]);
});

test.each([
  { sort: "name", before: "Aardvark", behind: "zzz" },
  { sort: "-daily", before: "Rich", behind: "Poor" },
  { sort: "-spent", before: "Spent", behind: "Unspent" },
])(
  "rows that are added while $sort is read page by page move no row between pages",
  async ({ sort, before, behind }) => {
    const query = { archived: "true", sort, limit: "5" };
    const list = { key: "campaigns", id: "campaignId" };
    const whole = idsOf(await page("/campaigns", { ...query, limit: "1000" }), list);
    const read: unknown[] = [];
    let next: string | null = "";
    for (let added = 0; next !== null; added += 1) {
      const body = await page("/campaigns", { ...query, ...(next !== "" && { after: next }) });
      read.push(...idsOf(body, list));
      ({ next } = body);
      // One that stands before all others, and one behind them.
      for (const [name, micros] of [[before, 9e12] as const, [behind, 1] as const]) {
        const id = `cmp_new_${name}_${added}`;
        await run(`insert into campaigns (campaign_id, name, advertiser_id, formats, daily_budget_micros)
        values ('${id}', '${name}', 'adv_5', '{rewarded}', ${micros})`);
        if (micros > 1) await run(`insert into campaign_days values ('${id}', '2026-03-05', 1, 0, ${micros})`);
      }
    }
    const isNew = (id: unknown) => String(id).startsWith("cmp_new");
    expect(read.filter((id) => !isNew(id))).toEqual(whole);
    expect(new Set(read).size).toBe(read.length);
    expect(read.filter(isNew).some((id) => String(id).includes(before))).toBe(false);
    await run("delete from campaign_days where campaign_id like 'cmp_new%'");
    await run("delete from campaigns where campaign_id like 'cmp_new%'");
  },
);

test("a page goes on behind a row that does not match any more", async () => {
  const query = { sort: "-spent", status: "active", limit: "3" };
  const { next, campaigns } = await page("/campaigns", query);
  const last = (campaigns as Row[]).at(-1)?.campaignId;
  await run(`update campaigns set status = 'paused', paused_by = 'operator' where campaign_id = '${last}'`);
  const after = await page("/campaigns", { ...query, limit: "1000", after: String(next) });
  const all = await page("/campaigns", { ...query, limit: "1000" });
  const ids = (body: Row) => idsOf(body, { key: "campaigns", id: "campaignId" });
  expect(ids(after)).toEqual(ids(all).slice(2));
  await run(`update campaigns set status = 'active', paused_by = null where campaign_id = '${last}'`);
});

test("campaigns are found by words, phase, format, creative and advertiser, and counted", async () => {
  const count = async (query: Record<string, string>) => (await page("/campaigns", { ...query, limit: "1" })).total;
  expect(await count({ find: "распродажа весен" })).toBe(9);
  expect(await count({ find: "WINTER", archived: "true" })).toBe(10);
  expect(await count({ find: "shop распродажа 3" })).toBe(5);
  expect(await count({ find: "CMP_0" })).toBe(8);
  // Letters of an id are no word beside those of a name.
  expect(await count({ find: "winter cmp" })).toBe(0);
  expect(await count({ find: "sale 50%" })).toBe(0);
  expect(await count({ format: "rewarded" })).toBe(4);
  expect(await count({ creativeId: "cre_1" })).toBe(19);
  expect(await count({ creativeId: "cre_2" })).toBe(0);
  expect(await count({ advertiser: "shop 2", format: "direct_link" })).toBe(4);
  expect(await count({ phase: "paused-by-operator" })).toBe(1);
  expect(await count({ phase: "archived" })).toBe(1);
  const phases = await Promise.all(campaignPhases.map(async (phase) => count({ phase })));
  expect(phases.reduce((sum, one) => sum + one, 0)).toBe(20);
});

test("creatives, bots and advertisers are found by words and states, and counted", async () => {
  const count = async (path: string, query: Record<string, string>) =>
    (await page(path, { ...query, limit: "1" })).total;
  expect(await count("/creatives", { find: "CLIP 1" })).toBe(3);
  expect(await count("/creatives", { find: "tags.test/7" })).toBe(1);
  expect(await count("/creatives", { review: "waiting" })).toBe(4);
  expect(await count("/bots", { find: "garden COIN" })).toBe(2);
  expect(await count("/bots", { category: "games" })).toBe(2);
  expect(await count("/bots", { suspended: "true" })).toBe(0);
  expect(await count("/bots", { trouble: "true" })).toBe(0);
  expect(await count("/money/advertisers", { find: "SHOP 2" })).toBe(1);
  expect(await count("/money/advertisers", { state: "archived" })).toBe(2);
  const { creatives } = await page("/creatives", { find: "cre_1" });
  expect(creatives).toMatchObject([{ advertiser: "Shop 1", campaignCount: 19 }]);
  expect((creatives as { campaigns: unknown[] }[])[0]?.campaigns).toHaveLength(5);
});

test("endpoints are listed of some bots, in trouble, or with webhooks that wait", async () => {
  const ids = async (query: Record<string, string>) =>
    idsOf(await page("/endpoints", query), { key: "endpoints", id: "botId" });
  const [one = "", other = ""] = botIds.toSorted();
  expect(await ids({ bots: `${one},${other}` })).toEqual([one, other]);
  await run(`insert into endpoints (bot_id, url, state) values ('${one}', 'https://hooks.test/', 'disabled')
    on conflict (bot_id) do update set state = 'disabled'`);
  expect(await ids({ trouble: "true" })).toEqual([one]);
  expect((await page("/bots", { trouble: "true" })).total).toBe(1);
  expect(await ids({ waiting: "true" })).toEqual([]);
});

test("words are found in any case and composition, and signs mean themselves", async () => {
  const found = async (text: string, find: string) => {
    const select = "select normalize($1::text, nfkc) ~ all ($2::text[]) as found";
    const [row] = await store.database.run<{ found: boolean }>({ name: "", text: select }, [text, findPatterns(find)]);
    return row?.found;
  };
  const text = "Зимний й Café [50%] a.b\\c cmp_8fJ2";
  for (const find of [
    " ЗИМНИЙ",
    "café",
    "Café".normalize("NFD"),
    "Й".normalize("NFD"),
    "[50%]",
    "a.b\\c",
    "CMP_8FJ2\n",
  ])
    expect(await found(text, find), find).toBe(true);
  for (const find of ["летний", "cafe", "a?b", "5.%", "^", "зимний лето"])
    expect(await found(text, find), find).toBe(false);
});

test("the usual orders of a long list are read by an index", async () => {
  await run(`insert into campaigns (campaign_id, name, advertiser_id, formats, created_at)
    select 'cmp_many_' || n, 'Many ' || n, 'adv_1', '{rewarded}', now() - n * interval '1 s' from generate_series(1, 20000) as n`);
  await run(`insert into creatives (creative_id, kind, url, created_at)
    select 'cre_many_' || n, 'vast', 'https://tags.test/', now() - n * interval '1 s' from generate_series(1, 20000) as n`);
  await run("analyze campaigns");
  await run("analyze creatives");
  const plans: string[] = [];
  const { database } = store;
  const explained: typeof database.run = async (statement, values) => {
    if (statement.text.includes("limit $")) {
      const text = `explain ${statement.text}`;
      const rows = await database.run<Record<string, string>>({ name: "", text }, values);
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    return database.run(statement, values);
  };
  const { listCampaigns } = await import("../src/campaigns/list-campaigns.ts");
  const { listCreatives } = await import("../src/creatives/list-creatives.ts");
  const watched = { ...database, run: explained };
  const deps = { now: fixture.clock.now, standingsOf: async () => new Map() };
  const of = { order: "newest", limit: 50, archived: false } as const;
  await listCampaigns(watched, { ...of, after: "cmp_many_10000" }, deps);
  await listCampaigns(watched, { ...of, sort: "name", after: "cmp_many_10000" }, deps);
  await listCreatives(watched, { ...of, after: "cre_many_10000" });
  expect(plans).toEqual([
    expect.stringContaining("campaigns_by_creation"),
    expect.stringContaining("campaigns_by_name"),
    expect.stringContaining("creatives_by_creation"),
  ]);
  // Behind the row of the cursor at once, without those before it.
  for (const plan of plans) expect(plan).toContain("Index Cond: (ROW(");
});
