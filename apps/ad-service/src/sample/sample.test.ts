import { firstEventIdAt } from "@intermission/ad-core/code";
import { operatorRequest } from "@intermission/operator-api/operator-request";
import type { Database } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { settleCharges } from "../money/settle-charges.ts";
import { issueStatements } from "../money/statements.ts";
import { removeFromSums } from "../statistics/remove-from-sums.ts";
import { rollUpStatistics } from "../statistics/roll-up-statistics.ts";
import { addSample } from "./add-sample.ts";
import { ofBots, removeSample, traffic } from "./remove-sample.ts";
import { sampleBots, sampleCampaigns } from "./sample-objects.ts";

const operatorToken = "o".repeat(32);
let store: TestDatabase;
let fixture: AppFixture;
beforeEach(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  await run("insert into deployment (currency) values ('USD') on conflict do nothing");
  await run("insert into publisher_shares (since, percent) values ('-infinity', 70) on conflict do nothing");
  await run(`insert into creatives (creative_id, kind, file_name, poster_file_name, sha256, media_type, byte_length, duration_ms,
    width, height) values ('cre_own', 'file', 'own.mp4', 'own.webp', 'ab', 'video/mp4', 1000, 15000, 360, 640)`);
});
afterEach(async () => {
  await fixture.close();
  await store.dispose();
});

const run = <Row>(text: string) => store.database.run<Row>({ name: "", text }, []);
async function one<Row>(text: string): Promise<Row> {
  const [row] = await run<Row>(text);
  if (row === undefined) throw new Error(`no row: ${text}`);
  return row;
}

async function send(call: ReturnType<typeof operatorRequest>) {
  const { method, path, query = {}, body } = call;
  const named = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const answer = await fixture.app.inject({
    method,
    url: `/operator/v1${path}?${new URLSearchParams(named)}`,
    headers: { authorization: `Bearer ${operatorToken}` },
    ...(body !== undefined && { payload: body }),
  });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
}

const deps = (database: Database) => ({
  database,
  currency: "USD",
  hasCountries: false,
  rollUpStatistics: () => rollUpStatistics(store.database),
  makePartitions: async () => {},
});

/** Adds the sample and waits for its sums and charges: they lag while another test's transaction is open. */
async function addWholeSample(): Promise<unknown> {
  const added = await send(operatorRequest("addSample"));
  await rollUpUntilNow(store.database);
  const uncharged = async () => {
    await settleCharges(store.database);
    const text = `select (select sum(price_micros) from events)
      + (select sum(amount_micros) from money_entries where account like 'advertiser:%' and kind = 'charge') as micros`;
    return (await one<{ micros: string | number }>(text)).micros;
  };
  await expect.poll(async () => Number(await uncharged()), { timeout: 30_000 }).toBe(0);
  return added;
}

/** A real advertiser with money, a real campaign and a real bot, which the sample must leave alone. */
async function addRealObjects() {
  const { botId } = await fixture.newBot({ name: "Quiz" });
  await send(operatorRequest("addAdvertiser", { body: { name: "Shop" } }));
  const topUp = { params: { advertiser: "Shop" }, body: { amountMicros: 5_000_000, reference: "INV-1" } };
  expect((await send(operatorRequest("recordTopUp", topUp))).status).toBe(201);
  const body = { name: "Own", advertiser: "Shop", formats: ["rewarded" as const], creativeIds: ["cre_own"] };
  expect((await send(operatorRequest("addCampaign", { query: { confirmed: "true" }, body }))).status).toBe(201);
  return botId;
}

test("two weeks of sample traffic agree with themselves: rows, statistics, money and what campaigns have spent", {
  tags: "long",
}, async () => {
  const added = await addWholeSample();
  expect(added).toMatchObject({ status: 201, body: { sample: { state: "added" } } });
  const rows = await one<Record<string, number>>(`select
    (select count(*)::integer from views) as views,
    (select count(*)::integer from views where watched_at is not null) as watched,
    (select count(*)::integer from views where state = 'held') as held,
    (select count(*)::integer from events where event = 'rewarded') as rewards,
    (select count(*)::integer from events where event = 'direct_link') as clicks,
    (select count(*)::integer from cta_clicks) as taps,
    (select count(*)::integer from conversions) as conversions,
    (select sum(count)::integer from click_refusals) as refused,
    (select count(*)::integer from deliveries where state = 'delivered') as delivered,
    (select sum(price_micros)::integer from events) as spend,
    (select sum(revenue_micros)::integer from events) as revenue,
    (select sum(spent_micros)::integer from campaign_days) as of_campaigns,
    (select -sum(amount_micros)::integer from money_entries where account like 'advertiser:%' and kind = 'charge') as charged,
    (select sum(amount_micros)::integer from money_entries where account like 'publisher:%') as owed,
    (select count(distinct occurred_at::date)::integer from events) as days`);
  const sums = await one<Record<string, number>>(`select sum(fills)::integer as fills,
    sum(completions)::integer as completions, sum(views_held)::integer as held, sum(rewards)::integer as rewards,
    sum(clicks)::integer as clicks, sum(taps)::integer as taps, sum(conversions)::integer as conversions,
    sum(clicks_refused)::integer as refused, sum(spend_micros)::integer as spend, sum(revenue_micros)::integer as revenue
    from stats_sums where span = 'quarter'`);
  expect(rows.views).toBeGreaterThan(1500);
  expect(rows.days).toBeGreaterThanOrEqual(14);
  expect(sums).toEqual({
    fills: rows.views,
    completions: rows.watched,
    held: rows.held,
    rewards: rows.rewards,
    clicks: rows.clicks,
    taps: rows.taps,
    conversions: rows.conversions,
    refused: rows.refused,
    spend: rows.spend,
    revenue: rows.revenue,
  });
  expect(rows.watched).toBe((rows.rewards ?? 0) + (rows.held ?? 0));
  expect([rows.of_campaigns, rows.charged, rows.owed]).toEqual([rows.spend, rows.spend, rows.revenue]);
  expect(rows.delivered).toBe((rows.rewards ?? 0) + (rows.clicks ?? 0));
});

test("its codes have expired, its times are over, and its budgets and caps hold", { tags: "long" }, async () => {
  await send(operatorRequest("addSample"));
  const now = fixture.clock.now.toISOString();
  expect(await run(`select from codes where expires_at > '${now}' limit 1`)).toEqual([]);
  for (const [table, column] of Object.entries(traffic)) {
    const last = column === "event_id" ? firstEventIdAt(fixture.clock.now) : now;
    expect(await run(`select from ${table} where ${column} > '${last}' limit 1`)).toEqual([]);
  }
  for (const { campaignId, dailyBudgetMicros } of sampleCampaigns) {
    const over = `select from campaign_days where campaign_id = '${campaignId}' and spent_micros > ${dailyBudgetMicros ?? 1e9}`;
    expect(await run(over)).toEqual([]);
  }
  expect(
    await run(
      "select from events group by bot_id, user_id, (occurred_at at time zone 'utc')::date having count(*) > 50",
    ),
  ).toEqual([]);
});

async function contents(): Promise<Record<string, string>> {
  const tables = await run<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'ad_service'::regnamespace and relkind in ('r', 'p')
       and not relispartition and relname not in ('audit_entries', 'stats_progress', 'money_progress')`,
  );
  const read = async ({ name }: { name: string }) => {
    const { rows } = await one<{ rows: string }>(
      `select coalesce(string_agg(t::text, E'\\n' order by t::text), '') as rows from ${name} t`,
    );
    return [name, rows] as const;
  };
  return Object.fromEntries(await Promise.all(tables.map(read)));
}

test("its removal leaves nothing of it, and everything else as it was", { tags: "long" }, async () => {
  await addRealObjects();
  await settleCharges(store.database);
  const before = await contents();
  await addWholeSample();
  const whole = await contents();
  expect(Object.keys(before).filter((table) => before[table] !== whole[table])).toEqual(
    expect.arrayContaining(["bots", "campaigns", "events", "money_entries", "stats_sums", "sample", "views"]),
  );
  expect((await send(operatorRequest("removeSample"))).body).toEqual({ removed: true });
  expect(await contents()).toEqual(before);
  expect((await send(operatorRequest("removeSample"))).body).toEqual({ removed: false });
  await expect(run("delete from money_entries")).rejects.toThrow("append-only");
  await expect(run("delete from money_transactions")).rejects.toThrow("append-only");
});

test("each table with rows of bots is one of those that the removal empties", async () => {
  const tables = await run<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'ad_service' and column_name = 'bot_id'
       and table_name not in (select inhrelid::regclass::text from pg_inherits)
       and table_name not in (select relname from pg_class where relispartition)`,
  );
  // Nobody is paid for the sample: `listDuePayouts`.
  const known = new Set<string>([
    ...Object.keys(traffic),
    ...ofBots,
    "endpoint_claims",
    "notices",
    "payout_run_payments",
  ]);
  expect(tables.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});

/** A database that fails before the transaction of this number, as that of a process that ends there. */
function endingAt(number: number): Database {
  let begun = 0;
  return new Proxy(store.database, {
    get(target, property, receiver) {
      if (property !== "transaction") return Reflect.get(target, property, receiver);
      return (...values: Parameters<Database["transaction"]>) => {
        begun += 1;
        if (begun === number) throw new Error("ended");
        return target.transaction(...values);
      };
    },
  });
}

test("an adding and a removal that were cut off are finished by the next one, each day once", {
  tags: "long",
}, async () => {
  const { now } = fixture.clock;
  await expect(addSample(deps(endingAt(12)), { now })).rejects.toThrow("ended");
  expect(await one("select state from sample")).toEqual({ state: "adding" });
  expect(await addSample(deps(store.database), { now })).toEqual({ outcome: "added" });
  const perDay = await run<{ codes: number }>(
    "select count(*)::integer as codes from codes group by (issued_at at time zone 'utc')::date",
  );
  const most = sampleBots.reduce((sum, { requestsPerDay }) => sum + requestsPerDay, 0) * 1.3 * 1.15;
  expect(perDay.filter(({ codes }) => codes > most)).toEqual([]);
  expect(perDay.length).toBeGreaterThanOrEqual(14);

  await expect(removeSample({ database: endingAt(5), removeFromSums }, { now })).rejects.toThrow("ended");
  expect(await addSample(deps(store.database), { now })).toEqual({ outcome: "removing" });
  expect(await removeSample({ database: store.database, removeFromSums }, { now })).toMatchObject({
    outcome: "removed",
  });
  expect(await run("select from bots limit 1")).toEqual([]);
});

test("no statement with a number is issued for it, while real ones are", { tags: "long" }, async () => {
  await addRealObjects();
  await send(operatorRequest("addSample"));
  await run("update money_progress set settled_until = '2026-05-02'");
  await issueStatements(store.database);
  expect(await run("select distinct name from money_statements")).toEqual([{ name: "Shop" }]);
});

test("it reaches no real bot and earns from no real campaign", { tags: "long" }, async () => {
  const botId = await addRealObjects();
  await send(operatorRequest("addSample"));
  const campaignId = sampleCampaigns[0].campaignId;
  const change = (body: object) =>
    send(operatorRequest("updateCampaign", { params: { campaignId }, query: { confirmed: "true" }, body }));
  for (const targeting of [{}, { bots: [botId] }, { bots: [botId, sampleBots[0].botId] }])
    expect(await change({ targeting })).toMatchObject({ status: 400, body: { error: { code: "BAD_REQUEST" } } });
  expect((await change({ targeting: { bots: [sampleBots[0].botId] } })).status).toBe(200);
  const added = {
    name: "New",
    advertiser: "Sample: Lantern Books",
    formats: ["rewarded" as const],
    creativeIds: ["cre_own"],
  };
  expect((await send(operatorRequest("addCampaign", { query: { confirmed: "true" }, body: added }))).status).toBe(400);
  const token = await send(operatorRequest("createToken", { params: { botId: sampleBots[0].botId } }));
  expect(token).toMatchObject({ status: 409, body: { error: { code: "SAMPLE" } } });
});

test("what would lose its object stops the removal, by its name", { tags: "long" }, async () => {
  await send(operatorRequest("addSample"));
  const body = { email: "ann@ads.test", role: "advertiser" as const, advertiser: "Sample: Lantern Books" };
  expect((await send(operatorRequest("invitePerson", { body }))).status).toBe(201);
  const refused = await send(operatorRequest("removeSample"));
  expect(refused).toMatchObject({ status: 409, body: { error: { code: "SAMPLE_IN_USE" } } });
  expect(JSON.stringify(refused.body)).toContain("ann@ads.test");
});

test("without a video that its campaigns could show it is not added", async () => {
  await run("delete from creatives");
  expect(await send(operatorRequest("addSample"))).toMatchObject({
    status: 409,
    body: { error: { code: "NO_VIDEO" } },
  });
  expect((await send(operatorRequest("showSample"))).body).toEqual({ sample: null });
});
