import { statement } from "@intermission/postgres/open-database";
import { metricsRegistry, rarelyRead } from "@intermission/server/metrics";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import { deliveryMetrics } from "./delivery-metrics.ts";

let warnings: string[] = [];
beforeEach(() => {
  warnings = [];
});
const log = { warn: (_facts: object, message: string) => warnings.push(message) };

describe("metrics of delivery", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  test("a scrape reports queue, ages, breakers and progress towards being disabled, and names no bot", async () => {
    const { database } = store;
    const address = { webhookUrl: "https://203.0.113.9/hook" };
    const [ready, resting, failing, disabled] = [
      await openDeliveryFixture(database, address),
      await openDeliveryFixture(database, address),
      await openDeliveryFixture(database, address),
      await openDeliveryFixture(database, address),
    ];
    await ready.enqueue(3);
    await resting.enqueue(2);
    const [old] = await failing.enqueue(4);
    const set = (sql: string, ...values: unknown[]) => database.run(statement(sql.slice(0, 60), sql), values);
    await set("update deliveries set due_at = now() - interval '90 s' where bot_id = $1", ready.botId);
    await set("update deliveries set due_at = now() - interval '500 s' where bot_id = $1", resting.botId);
    await set("update deliveries set state = 'failed' where bot_id = $1", failing.botId);
    // Delivered events are not counted.
    const [held] = await disabled.enqueue(1);
    await set("update deliveries set state = 'held' where event_id = $1", held);
    await disabled.setEndpoint({ state: "disabled" });
    await set("update deliveries set state = 'delivered' where event_id = $1", old);
    await resting.setEndpoint({ breaker: "open" });
    const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    await failing.setEndpoint({ state_since: ago(24 * 4), failing_since: ago(20), failures_since_success: 100 });

    const registry = metricsRegistry({ service: "test", version: "0" });
    const metrics = deliveryMetrics(registry, { database, log });
    const attempt = { isSuccess: false, status: null, errorClass: null, firstByteMs: null, totalMs: 5000 };
    metrics.attemptFinished({ ...attempt, isSuccess: true, status: 200, firstByteMs: 20, totalMs: 30 });
    metrics.attemptFinished({ ...attempt, status: 503, firstByteMs: 20 });
    metrics.attemptFinished({ ...attempt, errorClass: "timeout-connect" });
    const text = await registry.metrics();
    const value = (series: string) => {
      const line = text.split("\n").find((one) => one.startsWith(`${series} `));
      return line === undefined ? undefined : Number(line.slice(series.length + 1));
    };

    for (const [series, expected] of [
      ['intermission_deliveries{state="waiting"}', 5],
      ['intermission_deliveries{state="failed"}', 3],
      ['intermission_deliveries{state="held"}', 1],
      ['intermission_deliveries{state="delivered"}', undefined],
      ['intermission_endpoints{state="active"}', 3],
      ['intermission_endpoints{state="disabled"}', 1],
      ['intermission_endpoints_with_held_events{state="disabled"}', 1],
      ['intermission_endpoints_with_held_events{state="pending"}', 0],
      ['intermission_endpoint_breakers{state="closed"}', 3],
      ['intermission_endpoint_breakers{state="open"}', 1],
      ['intermission_endpoints_near_disabling{progress="0.7"}', 1],
      ['intermission_endpoints_near_disabling{progress="0.9"}', 0],
      ['intermission_delivery_attempts_total{class="delivered"}', 1],
      ['intermission_delivery_attempts_total{class="5xx"}', 1],
      ['intermission_delivery_attempts_total{class="timeout-connect"}', 1],
      ['intermission_delivery_attempts_total{class="tls"}', 0],
      ["intermission_delivery_duration_seconds_count", 3],
      ["intermission_delivery_first_byte_seconds_count", 2],
      ['intermission_delivery_duration_seconds_bucket{le="5"}', 3],
    ] as const) {
      expect([series, value(series)]).toEqual([series, expected]);
    }
    expect(value('intermission_oldest_due_delivery_seconds{endpoint="ready"}')).toBeCloseTo(90, -2);
    expect(value('intermission_oldest_due_delivery_seconds{endpoint="backoff"}')).toBeCloseTo(500, -2);
    expect(value('intermission_endpoint_disable_progress{endpoint="worst"}')).toBeCloseTo(0.8, 1);
    for (const secret of [ready.botId, resting.botId, "203.0.113.9", "evt_"]) expect(text).not.toContain(secret);
    expect(warnings).toEqual([]);
  });

  test("without the database a scrape still answers, with absent rather than wrong figures", async () => {
    const gone = await openTestDatabase({ schema: "ad_service", migrations });
    await gone.dispose();
    const registry = metricsRegistry({ service: "test", version: "0" });
    const metrics = deliveryMetrics(registry, { database: gone.database, log });
    metrics.attemptFinished({ isSuccess: true, status: 200, errorClass: null, firstByteMs: 1, totalMs: 2 });
    const text = await registry.metrics();
    expect(text).toContain('intermission_delivery_attempts_total{class="delivered"} 1');
    expect(text).not.toMatch(/^intermission_deliveries\{/m);
    expect(warnings).toContain("the figures of delivery could not be read");
  });
});

test("calls in quick succession share one result, also while it is being read", async () => {
  let reads = 0;
  const read = rarelyRead(async () => ++reads);
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  expect(await read()).toBe(1);
});
