import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { ReceiverWarning } from "@intermission/ad-core/client-words";
import { newEventId } from "@intermission/ad-core/code";
import { verify } from "@intermission/ad-core/signature";
import { parseWebhookEvent } from "@intermission/ad-core/webhook-event";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  eventually,
  openDeliveryFixture,
  openTestEndpoint,
  startTestDelivery,
  type TestEndpoint,
} from "../../test/fixtures/delivery-fixture.ts";
import { openTestsOfEndpoints } from "../../test/fixtures/endpoint-fixture.ts";
import { updateBot } from "../bots/change-bot.ts";
import { migrations } from "../migrations.ts";
import { setNoticeReceivers } from "../notices/receivers.ts";

const notices = statement<{ health: string; reason: string | null }>(
  "test.notices-of",
  "select health, reason from notices where bot_id = $1",
);
const disableAll = statement<never>("test.disable-all", "update endpoints set state = 'disabled'");

describe("tests of endpoints", () => {
  let store: TestDatabase;
  let endpoint: TestEndpoint;
  let fixture: Awaited<ReturnType<typeof openDeliveryFixture>>;
  let running: { stop(): Promise<void> }[] = [];

  const start = (options: { retrySeconds?: number } = {}) => {
    const tests = openTestsOfEndpoints(store.database, options);
    running.push(startTestDelivery(store.database), tests);
    return tests;
  };
  const endpointState = async () => (await fixture.endpoint()).state;
  const noticesOf = (botId: string) => store.database.run(notices, [botId]);
  const bodies = () => endpoint.received.map(({ body }) => JSON.parse(body.toString()));

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    endpoint = await openTestEndpoint();
    fixture = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
    await fixture.setEndpoint({ state: "pending" });
  });
  afterEach(async () => {
    await Promise.all(running.map(({ stop }) => stop()));
    running = [];
    await store.database.run(disableAll, []);
    await endpoint.close();
  });

  test("a new endpoint is active once it has answered a signed test event that rewards no user", async () => {
    start().activatePending();
    await eventually(endpointState, (state) => state === "active");
    const [arrived] = endpoint.received;
    if (!arrived) throw new Error("nothing arrived");
    expect(verify(arrived.body, arrived.headers["x-signature"], [fixture.token])).toBe(true);
    expect(parseWebhookEvent(arrived.body)).toMatchObject({
      event: { user_tg_id: "0", test: true, bot_id: fixture.botId },
    });
    expect(endpoint.received).toHaveLength(1);
    expect(await fixture.deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
    expect(await fixture.attempts()).toMatchObject([{ status: 200, attempt: 1 }]);
  });

  test("after a good test one event with a wrong signature is sent, which rewards no user and is not stored", async () => {
    start().activatePending();
    await eventually(endpointState, (state) => state === "active");
    const [probe] = endpoint.probes;
    if (!probe) throw new Error("no event with a wrong signature arrived");
    expect(verify(probe.body, probe.headers["x-signature"], [fixture.token])).toBe(false);
    expect(probe.headers["x-signature"]).toMatch(/^sha256=[0-9a-f]{64}$/);
    const [test] = bodies();
    const fields = JSON.parse(probe.body.toString());
    expect(fields).toMatchObject({ event: "rewarded", user_tg_id: "0", test: true, bot_id: fixture.botId });
    expect(fields.event_id).not.toBe(test?.event_id);
    expect(probe.at).toBeGreaterThanOrEqual(endpoint.received[0]?.at ?? Number.NaN);
    expect(endpoint.probes).toHaveLength(1);
    expect(await fixture.deliveries()).toHaveLength(1);
    expect(await fixture.endpoint()).toMatchObject({ answer_warning: null, accepts_wrong_signature: false });
  });

  test("a failed test is followed by no event with a wrong signature", async () => {
    endpoint.answer = (response) => response.writeHead(500).end();
    expect(await start().testEndpoint({ botId: fixture.botId })).toMatchObject({ isDelivered: false, warnings: [] });
    expect(endpoint.probes).toHaveLength(0);
  });

  test("an endpoint that accepts a wrong signature is active, with a warning and a notice until a test in which it refuses", async () => {
    endpoint.probeStatus = 204;
    const addresses = { webhook: "http://127.0.0.1:9/notices" };
    await setNoticeReceivers(store.database, { botId: fixture.botId, addresses });
    const tests = start();
    const run = () => tests.testEndpoint({ botId: fixture.botId });
    expect(await run()).toMatchObject({
      isDelivered: true,
      endpointState: "active",
      warnings: ["wrong-signature-accepted"],
    });
    expect(await fixture.endpoint()).toMatchObject({ state: "active", accepts_wrong_signature: true });
    expect(await noticesOf(fixture.botId)).toEqual([{ health: "doubtful", reason: "wrong-signature-accepted" }]);
    // A delivery does not tell.
    await fixture.enqueue();
    await eventually(fixture.deliveries, (rows) => rows.every(({ state }) => state === "delivered"));
    expect(await fixture.endpoint()).toMatchObject({ accepts_wrong_signature: true });

    endpoint.probeStatus = 401;
    expect(await run()).toMatchObject({ warnings: [] });
    expect(await fixture.endpoint()).toMatchObject({ accepts_wrong_signature: false });
    expect(await noticesOf(fixture.botId)).toEqual([{ health: "recovered", reason: null }]);
    await fixture.moveTo("http://127.0.0.1:9/other");
    expect(await fixture.endpoint()).toMatchObject({ accepts_wrong_signature: false });
  });

  test.each<[string, OutgoingHttpHeaders, string, ReceiverWarning]>([
    ["a page of a catch-all route", { "content-type": "text/html" }, "Hello <b>world</b>", "html-answer"],
    ["a page without a type", {}, "<!doctype html><title>Home</title>", "html-answer"],
    ["JSON that says no", { "content-type": "application/json" }, '{"ok":false}', "negative-answer"],
  ])(
    "%s activates an endpoint, with a warning, also by a delivery, and a plain 200 ends it",
    async (_name, headers, body, warning) => {
      const answer = (response: ServerResponse) => void response.writeHead(200, headers).end(body);
      endpoint.answer = answer;
      const tests = start();
      expect(await tests.testEndpoint({ botId: fixture.botId })).toMatchObject({
        isDelivered: true,
        warnings: [warning],
      });
      expect(await fixture.endpoint()).toMatchObject({ state: "active", answer_warning: warning });
      endpoint.answer = (response) => response.end("ok");
      await fixture.enqueue();
      await eventually(fixture.endpoint, (row) => row.answer_warning === null);
      endpoint.answer = answer;
      await fixture.enqueue();
      await eventually(fixture.endpoint, (row) => row.answer_warning === warning);
      await eventually(fixture.deliveries, (rows) => rows.every(({ state }) => state === "delivered"));
    },
  );

  test("a pending endpoint receives only its test, and the held events after it", async () => {
    endpoint.answer = (response) => response.writeHead(401).end("who are you?");
    start().activatePending();
    await eventually(fixture.attempts, (attempts) => attempts.length > 0);
    const ids = await fixture.enqueue(3);
    expect(bodies().every(({ test: isTest }) => isTest === true)).toBe(true);
    expect(await fixture.endpoint()).toMatchObject({ state: "pending", last_status: 401, last_answer: "who are you?" });

    endpoint.answer = (response) => response.end();
    await fixture.setEndpoint({ test_due_at: new Date() });
    await eventually(endpointState, (state) => state === "active");
    await eventually(
      () => bodies().filter(({ test: isTest }) => isTest === undefined),
      (sent) => sent.length === 3,
    );
    const tests = bodies().filter(({ test: isTest }) => isTest === true);
    // The same event each time: a receiver that dedupes sees one.
    expect(new Set(tests.map(({ event_id }) => event_id)).size).toBe(1);
    expect(bodies().map(({ event_id }) => event_id)).toEqual(expect.arrayContaining(ids));
  });

  test("an endpoint that was pending for longer than webhooks are kept is tested with a new event", async () => {
    const now = Date.now();
    const idOf = (days: number) => newEventId(now - days * 86_400_000, new Uint8Array(10));
    const { testEndpoint } = start();
    for (const [days, isSame] of [
      [6, true],
      [8, false],
    ] as const) {
      await testEndpoint({ botId: fixture.botId, activation: { eventId: idOf(days), tests: 3 } });
      expect(bodies().at(-1)?.event_id === idOf(days), `${days} days`).toBe(isSame);
    }
  });

  test("the first event of a pending endpoint triggers a test immediately", async () => {
    await fixture.setEndpoint({ test_due_at: new Date(Date.now() + 3_600_000), tests: 9 });
    start().activatePending();
    await fixture.enqueue();
    await eventually(endpointState, (state) => state === "active");
    await eventually(fixture.deliveries, (rows) => rows.every(({ state }) => state === "delivered"));
  });

  test("a failed test is retried with growing delays", async () => {
    endpoint.answer = (response) => response.writeHead(500).end();
    const { activatePending } = start();
    for (const [tests, seconds] of [
      [1, 5],
      [2, 30],
      [3, 120],
    ] as const) {
      const before = Date.now();
      await fixture.setEndpoint({ test_due_at: new Date() });
      // Started only now: else the first test could end before its due time is set, and that would replace the next one.
      if (tests === 1) activatePending();
      await eventually(fixture.attempts, (attempts) => attempts.length === tests);
      const { test_due_at } = await eventually(fixture.endpoint, ({ tests: made }) => made === tests);
      expect(test_due_at.getTime() - before).toBeGreaterThanOrEqual(seconds * 1000);
    }
  });

  test("with a fixed delay a pending endpoint is tested again after it, however often it failed", async () => {
    await fixture.setEndpoint({ tests: 9 });
    endpoint.answer = (response) => response.writeHead(500).end();
    start({ retrySeconds: 0.3 }).activatePending();
    const attempts = await eventually(fixture.attempts, (made) => made.length === 2);
    expect(attempts).toMatchObject([{ status: 500 }, { status: 500 }]);
    endpoint.answer = (response) => response.end();
    await eventually(endpointState, (state) => state === "active");
  });

  test("a manual test is sent once, returns the answer, and does not change the health of an active endpoint", async () => {
    await fixture.setEndpoint({ state: "active" });
    endpoint.answer = (response) => response.writeHead(503).end("later");
    const tests = start();
    const tested = await tests.testEndpoint({ botId: fixture.botId, event: "direct_link" });
    expect(tested).toMatchObject({ outcome: "tested", isDelivered: false, status: 503, answer: "later" });
    expect(bodies()).toMatchObject([{ event: "direct_link", user_tg_id: "0", test: true }]);
    expect(await fixture.endpoint()).toMatchObject({
      state: "active",
      failures_in_row: 0,
      breaker: "closed",
      in_flight: 0,
    });
    expect(await fixture.deliveries()).toMatchObject([{ state: "failed", end_reason: "test", attempts: 1 }]);
  });

  test("a real user id is sent only for a listed tester", async () => {
    const tests = start();
    expect(await tests.testEndpoint({ botId: fixture.botId, userId: "42" })).toEqual({ outcome: "not-a-tester" });
    await updateBot(fixture.bots, { botId: fixture.botId, settings: { testers: ["42"] }, now: new Date() });
    expect(await tests.testEndpoint({ botId: fixture.botId, userId: "42" })).toMatchObject({ outcome: "tested" });
    expect(bodies()).toMatchObject([{ user_tg_id: "42", test: true }]);
  });

  test("a bot has one test at a time; without a bot, an address or a token there is none", async () => {
    endpoint.answer = (response) => void setTimeout(() => response.end(), 200);
    const tests = start();
    const both = await Promise.all([1, 2].map(() => tests.testEndpoint({ botId: fixture.botId })));
    expect(both.map(({ outcome }) => outcome)).toEqual(["tested", "busy"]);
    expect(await tests.testEndpoint({ botId: "5" })).toEqual({ outcome: "unknown-bot" });
    await store.database.run(statement("test.revoke-all", "update bot_tokens set state = 'revoked'"), []);
    expect(await tests.testEndpoint({ botId: fixture.botId })).toEqual({ outcome: "no-token" });
    await fixture.moveTo(null);
    expect(await tests.testEndpoint({ botId: fixture.botId })).toEqual({ outcome: "no-endpoint" });
  });

  test("a changed address is pending again, and a success of the old one does not make it active", async () => {
    const other = await openTestEndpoint();
    other.answer = (response) => response.writeHead(404).end();
    endpoint.answer = async (response) => {
      const settings = { webhookUrl: other.url };
      await updateBot(fixture.bots, { botId: fixture.botId, settings, now: new Date() });
      response.end();
    };
    const tests = start();
    const tested = await tests.testEndpoint({ botId: fixture.botId });
    expect(tested).toMatchObject({ outcome: "tested", isDelivered: true });
    expect(await fixture.endpoint()).toMatchObject({ state: "pending", url: other.url });
    await other.close();
  });
});
