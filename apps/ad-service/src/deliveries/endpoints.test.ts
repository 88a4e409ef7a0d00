import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  eventually,
  openDeliveryFixture,
  openTestEndpoint,
  startedDeliveries,
  startTestDelivery,
  type TestEndpoint,
} from "../../test/fixtures/delivery-fixture.ts";
import { openTestsOfEndpoints } from "../../test/fixtures/endpoint-fixture.ts";
import { migrations } from "../migrations.ts";
import { disableEndpoint, enableEndpoint, limitEndpoint } from "./endpoints.ts";

const disableAll = statement<never>("test.disable-all", "update endpoints set state = 'disabled'");

describe("enabling, disabling and limiting an endpoint", () => {
  let store: TestDatabase;
  let endpoint: TestEndpoint;
  let fixture: Awaited<ReturnType<typeof openDeliveryFixture>>;
  let running: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    endpoint = await openTestEndpoint();
    fixture = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
  });
  afterEach(async () => {
    await Promise.all(running.map(({ stop }) => stop()));
    running = [];
    await store.database.run(disableAll, []);
    await endpoint.close();
  });

  const start = () => {
    const tests = openTestsOfEndpoints(store.database);
    tests.activatePending();
    running.push(startTestDelivery(store.database), tests);
  };
  const deps = () => ({ database: store.database, deliveries: startedDeliveries(store.database) });
  const states = async () => (await fixture.deliveries()).map(({ state }) => state);
  const ofBot = () => ({ botId: fixture.botId });
  const sentTests = () => endpoint.received.map(({ body }) => JSON.parse(body.toString()).test === true);

  test("nothing is sent to a disabled endpoint, and its waiting events are held", async () => {
    await fixture.enqueue(2);
    expect(await disableEndpoint(store.database, ofBot())).toEqual({ outcome: "disabled" });
    expect(await states()).toEqual(["held", "held"]);
    expect(await fixture.endpoint()).toMatchObject({ state: "disabled", disabled_reason: "operator" });
    start();
    await fixture.enqueue();
    await fixture.setEndpoint({ test_due_at: new Date(0) });
    // Another bot's event is sent meanwhile, so the sender has run.
    const other = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
    await other.enqueue();
    await eventually(other.deliveries, (rows) => rows.every(({ state }) => state === "delivered"));
    expect(await states()).toEqual(["held", "held", "held"]);
    // The other one may have been tested before it was made active.
    expect(new Set(endpoint.received.map(({ headers }) => headers["x-bot-id"]))).toEqual(new Set([other.botId]));
  });

  test("an enabled endpoint receives a test, then the held events", async () => {
    await disableEndpoint(store.database, ofBot());
    const ids = await fixture.enqueue(3);
    start();
    expect(await enableEndpoint(deps(), ofBot())).toEqual({ outcome: "enabled", state: "pending" });
    const rows = await eventually(
      fixture.deliveries,
      (all) => all.length === 4 && all.every(({ state }) => state === "delivered"),
    );
    expect(rows.map(({ event_id }) => event_id)).toEqual(expect.arrayContaining(ids));
    expect(sentTests()).toEqual([true, false, false, false]);
    expect(await fixture.endpoint()).toMatchObject({ state: "active", disabled_reason: null });
  });

  test("an enabled endpoint that does not answer its test 2xx stays pending, and receives nothing else", async () => {
    await disableEndpoint(store.database, ofBot());
    await fixture.enqueue();
    endpoint.answer = (response) => response.writeHead(403).end("not you");
    start();
    await enableEndpoint(deps(), ofBot());
    await eventually(fixture.endpoint, ({ last_status }) => last_status === 403);
    expect(await fixture.endpoint()).toMatchObject({ state: "pending", last_answer: "not you" });
    expect(sentTests()).toEqual([true]);
  });

  test("an endpoint enabled without a test is active immediately", async () => {
    await fixture.enqueue(2);
    await disableEndpoint(store.database, ofBot());
    expect(await enableEndpoint(deps(), { ...ofBot(), skipTest: true })).toEqual({
      outcome: "enabled",
      state: "active",
    });
    expect(await states()).toEqual(["waiting", "waiting"]);
    start();
    await eventually(states, (all) => all.every((state) => state === "delivered"));
    expect(sentTests()).toEqual([false, false]);
  });

  test("enabling resets the health of an endpoint", async () => {
    const longAgo = new Date("2026-01-01T00:00:00.000Z");
    await fixture.setEndpoint({ state: "disabled", disabled_reason: "failing", warned_percent: 100, breaker: "open" });
    await fixture.setEndpoint({ failing_since: longAgo, failures_since_success: 999, failures_in_row: 999, tests: 7 });
    await fixture.setEndpoint({ gone_since: longAgo, gone_event_id: "evt_1", is_gone_for_several: true });
    await fixture.setEndpoint({
      probe_at: longAgo,
      probe_failures: 9,
      backoff_until: new Date(Date.now() + 3_600_000),
    });
    await enableEndpoint(deps(), ofBot());
    expect(await fixture.endpoint()).toMatchObject({
      state: "pending",
      disabled_reason: null,
      warned_percent: 0,
      breaker: "closed",
      probe_failures: 0,
      failing_since: null,
      failures_since_success: 0,
      failures_in_row: 0,
      gone_since: null,
      tests: 0,
      is_gone_for_several: false,
      backoff_until: Number.NEGATIVE_INFINITY,
      test_event_id: null,
    });
  });

  test("a change that is not needed, or has no bot or endpoint, is reported", async () => {
    expect(await enableEndpoint(deps(), ofBot())).toEqual({ outcome: "already-active" });
    await disableEndpoint(store.database, ofBot());
    expect(await disableEndpoint(store.database, ofBot())).toEqual({ outcome: "already-disabled", reason: "operator" });
    await fixture.moveTo(null);
    expect(await enableEndpoint(deps(), ofBot())).toEqual({ outcome: "no-endpoint" });
    expect(await enableEndpoint(deps(), { botId: "5" })).toEqual({ outcome: "unknown-bot" });
    expect(await disableEndpoint(store.database, ofBot())).toEqual({ outcome: "no-endpoint" });
    expect(await disableEndpoint(store.database, { botId: "5" })).toEqual({ outcome: "unknown-bot" });
    expect(await limitEndpoint(deps(), { ...ofBot(), maxInFlight: 2 })).toEqual({ outcome: "no-endpoint" });
  });

  test("a limit applies immediately", async () => {
    endpoint.answer = (response) => void setTimeout(() => response.end(), 50);
    expect(await limitEndpoint(deps(), { ...ofBot(), maxInFlight: 2 })).toEqual({ outcome: "limited" });
    await fixture.enqueue(8);
    start();
    await eventually(states, (all) => all.every((state) => state === "delivered"));
    expect(endpoint.maxAtOnce).toBe(2);
  });
});
