import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { CODE_RANDOM_BYTES, codeWeekAt, newClickId, newCode } from "@intermission/ad-core/code";
import { type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { readPartitions } from "@intermission/postgres/partitions";
import { unavailabilityOf } from "@intermission/postgres/store-faults";
import { metricsRegistry } from "@intermission/server/metrics";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { issuePostbackKey, rememberAdvertiser } from "../advertisers/advertisers.ts";
import { recordConversion } from "../conversions/record-conversion.ts";
import { migrations } from "../migrations.ts";
import { newViewId } from "../views/view-ids.ts";
import { describeRetention, partitionMetrics } from "./describe-retention.ts";
import { dropExpired, makeUpcomingPartitions, startKeepingPartitions } from "./keep-partitions.ts";
import { keptKinds, partitionedTables, type Retention } from "./kept-rows.ts";

const DAY_MS = 86_400_000;
const schema = "ad_service";
const thirtyDays = Object.fromEntries(keptKinds.map((kind) => [kind, 30])) as Retention;
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** A migrated store without partitions, as a new node finds it. */
async function newStore(): Promise<{ store: OpenedDatabase }> {
  const { url, drop } = await createServerDatabase();
  const store = await openDatabase({ databaseUrl: url, dataDirectory: "", schema, migrations });
  onTestFinished(async () => {
    await store.close();
    await drop();
  });
  return { store };
}

/** A Wednesday. */
const now = new Date("2026-06-10T12:00:00Z");
const daysFrom = (days: number) => new Date(now.getTime() + days * DAY_MS);

const ask = <Row>(store: OpenedDatabase, text: string, ...values: unknown[]) =>
  store.run<Row>({ name: "", text }, values);
const insertRequest =
  "insert into ad_requests (bot_id, user_id, outcome, occurred_at) values ('910', '1', 'no-ad', $1)";
const request = (store: OpenedDatabase, at: Date) => ask(store, insertRequest, at);
const requestsLeft = async (store: OpenedDatabase) =>
  (await ask<{ at: Date }>(store, "select occurred_at as at from ad_requests order by 1")).map(({ at }) => at);

/** Partitions of the weeks around the moments of a test. */
async function partitionsAround(store: OpenedDatabase, ...moments: Date[]): Promise<void> {
  for (const moment of moments) await makeUpcomingPartitions(store, moment);
}

test("each table that is partitioned by time has a setting for how long its rows are kept", async () => {
  const { store } = await newStore();
  const found = await ask<{ name: string }>(
    store,
    `select relname::text as name from pg_partitioned_table join pg_class on pg_class.oid = partrelid
     where partstrat = 'r' order by 1`,
  );
  expect(found.map(({ name }) => name)).toEqual(partitionedTables.map(({ name }) => name).toSorted());
});

test("nodes that start at once on a store without partitions make those from last week to four weeks ahead, each once", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  const made = await Promise.all([1, 2, 3].map(() => makeUpcomingPartitions(store, now)));
  expect(made.map(({ made: names }) => names.length).toSorted()).toEqual([0, 0, 6 * partitionedTables.length]);
  const ofRequests = (await readPartitions(store, schema)).filter(({ table }) => table === "ad_requests");
  expect(ofRequests.map(({ name, fromMs }) => [name, new Date(fromMs).toISOString()])).toEqual(
    ["06-01", "06-08", "06-15", "06-22", "06-29", "07-06"].map((day) => [
      `ad_requests_2026${day.replace("-", "")}`,
      `2026-${day}T00:00:00.000Z`,
    ]),
  );
  expect(await describeRetention(store, { retention: thirtyDays, now })).toMatchObject({
    partitionsUntil: new Date("2026-07-13T00:00:00Z"),
    kept: keptKinds.map((rows) => ({ rows, days: 30, since: new Date("2026-06-01T00:00:00Z") })),
  });
  const settings = await ask(
    store,
    "select distinct reloptions from pg_class where relname like 'click_refusals_2026%'",
  );
  expect(settings).toContainEqual({ reloptions: ["fillfactor=70"] });
});

test("the metric says for how long rows have partitions, and no number while the database cannot be read", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  const registry = metricsRegistry({ service: "ad-service", version: "test" });
  let isAway = true;
  const run: OpenedDatabase["run"] = async (statement, values) => {
    if (isAway) throw new Error("away");
    return store.run(statement, values);
  };
  partitionMetrics(registry, { database: { run }, now: () => now, log: silent });
  const seconds = async () => /^intermission_partitions_ahead_seconds (\S+)$/m.exec(await registry.metrics())?.[1];
  expect(await seconds()).toBe("Nan");
  isAway = false;
  await makeUpcomingPartitions(store, now);
  // Until Monday, the 13th of July; a read that failed is not repeated for some seconds.
  await expect.poll(seconds, { timeout: 30_000 }).toBe(String((32.5 * DAY_MS) / 1000));
});

test("after a jump of the clock by a year, forwards or back, rows are stored again within a round", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  const clock = { now };
  const loop = startKeepingPartitions({
    store,
    retention: thirtyDays,
    log: silent,
    now: () => clock.now,
    isClockSettled: () => true,
    everyMs: 20,
  });
  onTestFinished(() => loop.stop());
  for (const days of [0, 365, -365]) {
    clock.now = daysFrom(days);
    await expect.poll(() => request(store, clock.now).then(() => "stored", String), { timeout: 30_000 }).toBe("stored");
  }
  expect(loop.health.failed).toBe(0);
});

/** The loop of a node, in quick rounds. */
function keepPartitions(store: OpenedDatabase, isClockSettled: () => boolean = () => true) {
  const loop = startKeepingPartitions({
    store,
    retention: thirtyDays,
    log: silent,
    now: () => now,
    isClockSettled,
    everyMs: 20,
    lookEveryMs: 100,
  });
  onTestFinished(() => loop.stop());
  return loop;
}

test("a week that was dropped or detached by hand is there again within seconds, the detached one with its rows", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  await makeUpcomingPartitions(store, now);
  const loop = keepPartitions(store);
  await expect.poll(() => loop.health.done, { timeout: 30_000 }).toBeGreaterThan(0);
  const stored = () => expect.poll(() => request(store, now).then(() => "stored", String), { timeout: 30_000 });
  await request(store, now);
  await ask(store, "drop table ad_requests_20260608");
  await stored().toBe("stored");
  await ask(store, "alter table ad_requests detach partition ad_requests_20260608");
  await stored().toBe("stored");
  expect(await requestsLeft(store)).toEqual([now, now]);
});

test("a node is not ready while this week has no partition and none can be made", async () => {
  const { store } = await newStore();
  await makeUpcomingPartitions(store, now);
  await ask(store, "drop table ad_requests_20260608");
  await ask(store, "create table ad_requests_20260608 (other text)");
  const loop = keepPartitions(store);
  await expect.poll(() => loop.health.failed, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(() => loop.require()).toThrow(/rows of this week have no partition/);
  await ask(store, "drop table ad_requests_20260608");
  await expect.poll(() => loop.health.done, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(() => loop.require()).not.toThrow();
});

test("nothing is dropped before the clock is settled: a machine that starts years ahead forgets nothing", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-90), now);
  let isSettled = false;
  const loop = keepPartitions(store, () => isSettled);
  const weeks = async () => (await readPartitions(store, schema, "ad_reports")).length;
  const before = await weeks();
  await expect.poll(() => loop.health.done, { timeout: 30_000 }).toBeGreaterThan(3);
  expect(await weeks()).toBe(before);
  isSettled = true;
  await expect.poll(weeks, { timeout: 30_000 }).toBeLessThan(before);
});

test("a kept week that was detached by hand is not dropped", { tags: "long" }, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-20), now);
  await request(store, daysFrom(-20));
  await ask(store, "alter table ad_requests detach partition ad_requests_20260518");
  const { dropped, detached } = await dropExpired(store, { retention: thirtyDays, now });
  expect(detached).toEqual(["ad_requests_20260518"]);
  expect(dropped).not.toContain("ad_requests_20260518");
  expect(await ask(store, "select occurred_at as at from ad_requests_20260518")).toEqual([{ at: daysFrom(-20) }]);
});

test("a row of a week without a partition is refused as something that will be possible soon", async () => {
  const { store } = await newStore();
  await makeUpcomingPartitions(store, now);
  await expect(request(store, daysFrom(60)).catch((error) => unavailabilityOf(error))).resolves.toBe("out-of-reach");
});

test("a week is dropped when its last moment is older than its rows are kept, and its sums stay", async () => {
  const { store } = await newStore();
  const [old, kept] = [new Date("2026-05-10T23:59:59Z"), new Date("2026-05-11T00:00:00Z")];
  await partitionsAround(store, kept, now);
  for (const at of [old, kept, now]) await request(store, at);
  await rollUpUntilNow(store);
  const sum = "select sum(no_fills)::integer as count from stats_sums where span = 'day'";
  const before = await readPartitions(store, schema);
  // The week ends on the 11th at 00:00: thirty days later is the 10th of June.
  const early = await dropExpired(store, { retention: thirtyDays, now: new Date("2026-06-09T23:59:59Z") });
  expect(early.dropped.filter((name) => name.startsWith("ad_requests"))).toEqual([]);
  const { dropped, busy, needed } = await dropExpired(store, {
    retention: thirtyDays,
    now: new Date("2026-06-10T00:00:00Z"),
  });
  expect([early.dropped.length, dropped.length, busy, needed]).toEqual([0, partitionedTables.length, [], []]);
  expect(await requestsLeft(store)).toEqual([kept, now]);
  expect(await readPartitions(store, schema)).toEqual(before.filter(({ name }) => !dropped.includes(name)));
  expect(await ask(store, sum)).toEqual([{ count: 3 }]);
});

test("rows that the statistics do not include yet are not dropped", async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-90), now);
  await request(store, daysFrom(-90));
  await ask(
    store,
    "insert into click_refusals (bot_id, code, reason, quarter, count) values ('910', 'c', 'expired', $1, 1)",
    daysFrom(-90),
  );
  const { needed, dropped } = await dropExpired(store, { retention: thirtyDays, now });
  expect(needed).toEqual(["ad_requests_20260309", "click_refusals_20260309"]);
  expect(dropped).toContain("ad_milestones_20260309");
  await rollUpUntilNow(store);
  expect((await dropExpired(store, { retention: thirtyDays, now })).dropped).toEqual(needed);
});

test("a week of views stays while one is held or waits for its end; then it goes, with the ads of tags", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  const old = daysFrom(-90);
  await partitionsAround(store, old, now);
  const codes = [old, old, old, now].map((at) => newCode("abcd", randomBytes(CODE_RANDOM_BYTES), at));
  const states = ["rewarded", "held", "watched", "playing"];
  for (const [index, code] of codes.entries())
    await ask(
      store,
      `insert into views (bot_id, view_id, code, user_id, campaign_id, creative_id, duration_ms, opened_at, deadline,
         token_hash, state, suspicions)
       values ('910', $1, $2, '1', 'cmp_1', 'cre_1', 10000, $3, $3, '', $4, case $4 when 'held' then '{too-even}' else '{}' end::text[])`,
      newViewId({ botId: "910", code }),
      code,
      index === 3 ? now : old,
      states[index],
    );
  await ask(
    store,
    "insert into views_due (due_at, bot_id, view_id) select now(), bot_id, view_id from views where state = 'watched'",
  );
  const drop = () => dropExpired(store, { retention: thirtyDays, now });
  const { needed, dropped } = await drop();
  expect(needed).toEqual(["views_20260309"]);
  expect(dropped).toEqual(expect.arrayContaining(["codes_20260309", "vast_ads_20260309"]));
  await ask(store, "update views set state = 'refused' where state = 'held'");
  expect((await drop()).needed).toEqual(["views_20260309"]);
  await ask(store, "delete from views_due");
  expect(await drop()).toMatchObject({ needed: [], dropped: ["views_20260309"] });
  expect(await ask(store, "select state from views")).toEqual([{ state: "playing" }]);
});

test("a held click and its code are kept until somebody decides about it", { tags: "long" }, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-90), now);
  const code = `${codeWeekAt(daysFrom(-90).getTime())}bota234567892345`;
  await ask(
    store,
    `with issued as (
       insert into codes (bot_id, code, user_id, issued_at, expires_at) values ('910', $1, '1', $2::timestamptz, $2)
     )
     insert into withheld_clicks (click_id, bot_id, code, user_id, outcome, suspicions, occurred_at)
     values ('clk_1', '910', $1, '1', 'held', '{mostly-taps}', $2)`,
    code,
    daysFrom(-90),
  );
  const { needed } = await dropExpired(store, { retention: thirtyDays, now });
  expect(needed).toEqual(["codes_20260309", "withheld_clicks_20260309"]);
  await ask(store, "update withheld_clicks set outcome = 'refused'");
  expect((await dropExpired(store, { retention: thirtyDays, now })).dropped).toEqual(needed);
});

test("while a long transaction reads the rows, others are not delayed; the drop is completed afterwards", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-90), now);
  await request(store, daysFrom(-90));
  await rollUpUntilNow(store);
  let stored = 0;
  await store.withoutTimeout(async (dump) => {
    await dump.query("begin isolation level repeatable read");
    const rowsOfDump = async () => (await dump.query("select from ad_requests")).rowCount;
    expect(await rowsOfDump()).toBe(1);
    let isOver = false;
    const dropping = dropExpired(store, { retention: thirtyDays, now, waitMs: 1000 }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await request(store, now);
      stored += 1;
      await wait(10);
    }
    // One of a table at a time is under way.
    expect((await dropping).busy).toEqual(["ad_requests_20260302"]);
    // Several in that second: none waited for the drop, which waited for the dump.
    expect(stored).toBeGreaterThan(1);
    expect(await rowsOfDump()).toBe(1);
    await dump.query("commit");
  });
  expect(await dropExpired(store, { retention: thirtyDays, now })).toMatchObject({
    dropped: expect.arrayContaining(["ad_requests_20260302", "ad_requests_20260309"]),
    busy: [],
  });
  expect(await requestsLeft(store)).toHaveLength(stored);
});

test("a node that ended between the two steps of a drop leaves nothing behind for ever", { tags: "long" }, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-90), now);
  await store.withoutTimeout((client) =>
    client.query("alter table ad_requests detach partition ad_requests_20260309 concurrently"),
  );
  expect((await dropExpired(store, { retention: thirtyDays, now })).dropped).toContain("ad_requests_20260309");
  expect(await ask(store, "select to_regclass('ad_requests_20260309') as table")).toEqual([{ table: null }]);
});

test("of two nodes, one drops", { tags: "long" }, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-90), now);
  const both = await Promise.all([1, 2].map(() => dropExpired(store, { retention: thirtyDays, now })));
  const dropped = both.flatMap(({ dropped: names }) => names);
  expect(new Set(dropped).size).toBe(dropped.length);
  expect(dropped.length).toBe(6 * partitionedTables.length);
});

test("a conversion that is reported again in a later week, or an attempt that is recorded again, is stored once", {
  tags: "long",
}, async () => {
  const { store } = await newStore();
  await partitionsAround(store, daysFrom(-20), now);
  const clickedAt = daysFrom(-20);
  const clickId = newClickId(clickedAt.getTime(), new Uint8Array(10));
  const { advertiserId } = await store.transaction((tx) => rememberAdvertiser(tx, "Acme"));
  const key = await issuePostbackKey(store, { advertiserId });
  await ask(
    store,
    "insert into campaigns (campaign_id, name, advertiser_id, formats) values ('cmp_1', 'One', $1, '{direct_link}')",
    advertiserId,
  );
  await ask(
    store,
    `insert into cta_clicks (bot_id, view_id, click_id, user_id, campaign_id, creative_id, occurred_at, opened_at)
     values ('910', '910-v', $1, '1', 'cmp_1', 'cre_1', $2, $2)`,
    clickId,
    clickedAt,
  );
  const report = { clickId, key, conversionId: "order-1", event: "purchase", valueMicros: null, currency: "USD" };
  const outcomes = [];
  for (const days of [-19, -12, 0])
    outcomes.push((await recordConversion(store, { ...report, now: daysFrom(days) })).outcome);
  expect(outcomes).toEqual(["recorded", "repeated", "repeated"]);
  for (let time = 0; time < 2; time++)
    await ask(
      store,
      `insert into delivery_attempts (bot_id, event_id, attempt, started_at, url) values ('910', 'evt_1', 1, $1, '')
       on conflict do nothing`,
      now,
    );
  expect(await ask(store, "select count(*) as count from delivery_attempts")).toEqual([{ count: 1 }]);
});
