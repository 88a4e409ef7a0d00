// @module-tag long
import { setTimeout as wait } from "node:timers/promises";
import { type OpenedDatabase, openDatabase } from "@intermission/postgres/open-database";
import { createServerDatabase } from "@intermission/testing/test-database";
import { expect, onTestFinished, test } from "vitest";
import { rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { migrations } from "../migrations.ts";
import { rollUpStatistics } from "../statistics/roll-up-statistics.ts";
import { dropExpired, makeUpcomingPartitions } from "./keep-partitions.ts";
import { keptKinds, type Retention } from "./kept-rows.ts";

const ROWS = 200_000;
const DAY_MS = 86_400_000;
const thirtyDays = Object.fromEntries(keptKinds.map((kind) => [kind, 30])) as Retention;

const write = `with requested as (
    insert into ad_requests (bot_id, user_id, code, outcome, occurred_at) values ('910', '1', 'code', 'filled', $1)
  )
  insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, occurred_at)
  select '910', 'cmp_1', 'cre_1', milestone, $1 from unnest('{start,complete}'::text[]) as milestone`;

/** Sessions that wait for the lock of a table, without the one that drops. */
const lockWaits = `select query from pg_locks join pg_stat_activity using (pid)
  where not granted and locktype = 'relation' and datname = current_database() and query !~ '^(alter|drop) table'`;

async function newStore(): Promise<OpenedDatabase> {
  const { url, drop } = await createServerDatabase();
  const store = await openDatabase({ databaseUrl: url, dataDirectory: "", schema: "ad_service", migrations });
  onTestFinished(async () => {
    await store.close();
    await drop();
  });
  return store;
}

test("a week of 200,000 rows is dropped while rows are stored and summed: none fails, none waits for a lock, none is lost", {
  timeout: 240_000,
}, async () => {
  const store = await newStore();
  const ask = <Row>(text: string, ...values: unknown[]) => store.run<Row>({ name: "", text }, values);
  const now = new Date();
  const old = new Date(now.getTime() - 60 * DAY_MS);
  for (const moment of [old, now]) await makeUpcomingPartitions(store, moment);
  await ask(
    `insert into ad_milestones (bot_id, campaign_id, creative_id, milestone, occurred_at)
     select '910', 'cmp_1', 'cre_1', 'start', $1 from generate_series(1, ${ROWS})`,
    old,
  );
  await rollUpUntilNow(store);

  let isOver = false;
  let written = 0;
  const waits: unknown[] = [];
  const until = async (work: () => Promise<unknown>) => {
    while (!isOver) {
      await work();
      await wait(2);
    }
  };
  const running = Promise.all([
    ...[1, 2, 3, 4].map(() =>
      until(async () => {
        await ask(write, new Date());
        written += 1;
      }),
    ),
    until(() => rollUpStatistics(store)),
    until(async () => waits.push(...(await ask(lockWaits)))),
  ]);
  await expect.poll(() => written, { timeout: 60_000 }).toBeGreaterThan(20);
  const before = written;
  const { dropped, busy, needed } = await dropExpired(store, { retention: thirtyDays, now });
  await expect.poll(() => written, { timeout: 60_000 }).toBeGreaterThan(before + 20);
  isOver = true;
  await running;

  expect([busy, needed, waits]).toEqual([[], [], []]);
  expect(dropped.filter((name) => name.startsWith("ad_milestones_")).length).toBeGreaterThan(0);
  await rollUpUntilNow(store);
  expect(await ask("select count(*) as count from ad_milestones")).toEqual([{ count: 2 * written }]);
  const sums = "select sum(starts)::integer as starts, sum(fills)::integer as fills from stats_sums where span = 'day'";
  expect(await ask(sums)).toEqual([{ starts: ROWS + written, fills: written }]);
});
