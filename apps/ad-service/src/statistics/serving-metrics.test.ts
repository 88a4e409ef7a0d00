import { metricsRegistry } from "@intermission/server/metrics";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { servingMetrics } from "./serving-metrics.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

const log = {
  warn: (facts: object) => {
    throw new Error(JSON.stringify(facts));
  },
};

test("a scrape reports fills, reasons without an ad, paid events, spend and lag of today, and names nobody", async () => {
  const { database } = store;
  const run = (text: string, ...values: unknown[]) => database.run({ name: "", text }, values);
  const sums: [botId: string, day: number, column: string, count: number, spendMicros: number][] = [
    ["7000000001", 0, "fills", 40, 0],
    ["7000000002", 0, "fills", 2, 0],
    ["7000000001", 0, "rewards", 30, 60_000],
    ["7000000002", 0, "clicks", 5, 25_000],
    ["7000000001", 0, "refunds", 1, -2000],
    // Of yesterday: not in the counters of today.
    ["7000000001", 1, "rewards", 900, 9_000_000],
  ];
  const midnight = "date_trunc('day', now(), 'UTC') - make_interval(days => $2)";
  for (const [botId, day, column, count, spendMicros] of sums)
    await run(
      `insert into stats_bot_sums (bot_id, span, starts_at, ${column}, spend_micros)
       values ($1, 'day', ${midnight}, $3, $4)
       on conflict (bot_id, span, starts_at) do update set
         ${column} = excluded.${column}, spend_micros = stats_bot_sums.spend_micros + excluded.spend_micros`,
      botId,
      day,
      count,
      spendMicros,
    );
  const reasons: [botId: string, day: number, measure: string, reason: string, count: number][] = [
    ["7000000001", 0, "no-fills", "none-fits", 7],
    ["7000000001", 0, "clicks-refused", "bot", 9],
    ["7000000001", 0, "playback-faults", "decode", 3],
    ["7000000001", 1, "playback-faults", "decode", 4],
  ];
  for (const row of reasons)
    await run(
      `insert into stats_bot_reasons (bot_id, span, starts_at, measure, reason, count)
       values ($1, 'day', ${midnight}, $3, $4, $5)`,
      ...row,
    );
  await run("update stats_progress set counted_until = now() - interval '42 s'");

  const registry = metricsRegistry({ service: "test", version: "0" });
  servingMetrics(registry, { database, currency: "EUR", liveViews: () => 4, log });
  const text = await registry.metrics();
  for (const line of [
    'intermission_ad_requests_total{outcome="filled",reason=""} 42',
    'intermission_ad_requests_total{outcome="no-ad",reason="none-fits"} 7',
    'intermission_ad_requests_total{outcome="limited",reason=""} 0',
    'intermission_rewards_total{event="rewarded",reason=""} 30',
    'intermission_rewards_total{event="direct_link",reason=""} 5',
    'intermission_clicks_total{kind="refused",reason="bot"} 9',
    'intermission_playback_faults_total{kind="given-up",reason="decode"} 3',
    'intermission_spend_total{currency="EUR"} 0.083',
    'intermission_held_for_review{kind="view"} 0',
    "intermission_live_views 4",
  ])
    expect(text.split("\n")).toContain(line);
  expect(Number(/^intermission_statistics_lag_seconds (\S+)$/m.exec(text)?.[1])).toBeCloseTo(42, -1);
  expect(text).not.toContain("7000000001");
});

test("without the database a scrape has no figures instead of wrong ones, and still answers", async () => {
  const registry = metricsRegistry({ service: "test", version: "0" });
  const warnings: string[] = [];
  const database = { ...store.database, run: () => Promise.reject(new Error("away")) };
  const warn = (_facts: object, message: string) => warnings.push(message);
  servingMetrics(registry, { database, currency: "EUR", liveViews: () => 0, log: { warn } });
  const text = await registry.metrics();
  expect(text).toContain("intermission_live_views 0");
  expect(text).not.toMatch(/^intermission_(ad_requests|spend|held).*\d$/m);
  expect(warnings).toContain("the figures of serving could not be read");
});
