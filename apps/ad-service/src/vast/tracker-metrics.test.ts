import { metricsRegistry } from "@intermission/server/metrics";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { trackerMetrics } from "./tracker-metrics.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

test("a scrape tells calls to trackers by outcome, those that wait, and how long the oldest has been due", async () => {
  const { database } = store;
  const call = `insert into tracker_calls (bot_id, view_id, opened_at, event, position, url, due_at, finished_at, outcome)`;
  await database.run(
    {
      name: "",
      text: `${call} values ('7000000001', 'v', now(), 'start', 0, 'https://a.example', now() - interval '1 hour', now(), 'answered'),
        ('7000000001', 'v', now(), 'start', 1, 'https://a.example', now() - interval '90 s', null, null),
        ('7000000001', 'v', now(), 'start', 2, 'https://a.example', now() + interval '1 hour', null, null)`,
    },
    [],
  );
  const registry = metricsRegistry({ service: "test", version: "0" });
  const log = {
    warn: (facts: object) => {
      throw new Error(JSON.stringify(facts));
    },
  };
  const count = trackerMetrics(registry, { database, log });
  count("answered");
  count("answered");
  count("retried");
  const text = await registry.metrics();
  for (const line of [
    'intermission_tracker_calls_total{outcome="answered"} 2',
    'intermission_tracker_calls_total{outcome="retried"} 1',
    'intermission_tracker_calls_total{outcome="failed"} 0',
    "intermission_tracker_calls_waiting 2",
  ])
    expect(text).toContain(line);
  const [, seconds] = /^intermission_oldest_tracker_call_seconds ([\d.]+)$/m.exec(text) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(90);
  expect(Number(seconds)).toBeLessThan(600);
});
