import { verify, verifyStandardWebhook } from "@intermission/ad-core/signature";
import { parseWebhookEvent } from "@intermission/ad-core/webhook-event";
import { type Database, openDatabase, statement } from "@intermission/postgres/open-database";
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
import { migrations } from "../migrations.ts";
import type { FinishedAttempt } from "./attempt-delivery.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-deliveries.ts";
import { sweepDeliveries } from "./delivery-upkeep.ts";
import { finishDeliveries } from "./record-attempts.ts";

/** The outcome of a claim: answered 200, with the changes of a test. */
function finishedBy(claim: ClaimedDelivery, change: Partial<FinishedAttempt> = {}): FinishedAttempt {
  return {
    ...claim,
    state: "delivered",
    endReason: null,
    delaySeconds: null,
    isSuccess: true,
    answerWarning: null,
    backoffSeconds: null,
    startedAt: new Date(),
    address: null,
    status: 200,
    errorClass: null,
    responseText: "",
    dnsMs: null,
    tcpMs: null,
    tlsMs: null,
    firstByteMs: 2,
    totalMs: 3,
    ...change,
  };
}

type Fixture = Awaited<ReturnType<typeof openDeliveryFixture>>;

describe("webhook delivery", () => {
  let store: TestDatabase;
  let endpoint: TestEndpoint;
  let fixture: Fixture;
  let running: ReturnType<typeof startTestDelivery>[] = [];

  const start = (limits?: Parameters<typeof startTestDelivery>[1]) => {
    const delivery = startTestDelivery(store.database, limits);
    running.push(delivery);
    return delivery;
  };
  const states = async () => (await fixture.deliveries()).map(({ state }) => state);
  const everyState = (state: string) => (seen: string[]) => seen.length > 0 && seen.every((each) => each === state);
  const claimAll = (leaseSeconds: number) => claimDeliveries(store.database, { limit: 100, leaseSeconds });
  const finishing = () => finishDeliveries(store.database, () => {});

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
    await endpoint.close();
    // The store is shared: deliveries that a test left unsent must not reach the next one.
    await store.database.run(
      statement("test.end", "update deliveries set state = 'failed' where state <> 'delivered'"),
      [],
    );
  });

  test("an event is sent once, signed, and logged", async () => {
    // Polling would never find it, so only the signal after the commit can.
    start({ pollMs: 600_000 });
    const [eventId] = await fixture.enqueue();
    await eventually(states, everyState("delivered"));

    expect(endpoint.received).toHaveLength(1);
    const [{ headers, body }] = endpoint.received as [TestEndpoint["received"][0]];
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-bot-id": fixture.botId,
      "webhook-attempt": "1",
    });
    expect(headers["x-timestamp"]).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
    expect(verify(body, headers["x-signature"], [fixture.token])).toBe(true);
    const tokens = [fixture.token];
    expect(verifyStandardWebhook({ headers, body, tokens, now: new Date() })).toEqual({ outcome: "valid" });
    expect(parseWebhookEvent(body)).toMatchObject({
      outcome: "valid",
      event: { event_id: eventId, event: "rewarded" },
    });

    expect(await fixture.attempts()).toMatchObject([
      { attempt: 1, status: 200, error_class: null, address: "127.0.0.1", response_text: "thanks", next_at: null },
    ]);
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 1, lease_until: null }]);
  });

  test("failures are retried by the schedule with the same bytes and a fresh signature, twelve attempts at most", async () => {
    endpoint.answer = (response) => response.writeHead(500).end("\0down\0");
    start();
    await fixture.enqueue();
    for (let attempt = 1; attempt < 12; attempt++) {
      await eventually(fixture.attempts, (attempts) => attempts.length === attempt);
      await fixture.makeDue();
    }
    await eventually(states, everyState("failed"));

    const bodies = new Set(endpoint.received.map(({ body }) => body.toString("hex")));
    expect(bodies.size).toBe(1);
    for (const { headers, body } of endpoint.received)
      expect(verify(body, headers["x-signature"], [fixture.token])).toBe(true);
    expect(endpoint.received.map(({ headers }) => headers["webhook-attempt"])).toEqual(
      Array.from({ length: 12 }, (_, index) => String(index + 1)),
    );

    const steps = [5, 30, 120, 600, 1800, 3600, 10800, 21600, 43200, 86400, 86400];
    const attempts = await fixture.attempts();
    expect(attempts).toHaveLength(12);
    steps.forEach((step, index) => {
      const { started_at, next_at, response_text } = attempts[index] as (typeof attempts)[0];
      const waited = ((next_at?.getTime() ?? 0) - started_at.getTime()) / 1000;
      expect(waited).toBeGreaterThanOrEqual(step);
      expect(waited).toBeLessThan(step * 1.2 + 20);
      expect(response_text).toBe("down");
    });
    expect(attempts[11]?.next_at).toBeNull();
  });

  test("a delivery is sent again if a worker crashes between sending and recording", async () => {
    await fixture.enqueue();
    const [claim] = await claimAll(0.05);
    expect(claim).toMatchObject({ attempt: 1, fence: 1 });
    start();
    await eventually(states, everyState("delivered"));
    expect(endpoint.received).toHaveLength(1);
    expect(endpoint.received[0]?.headers["webhook-attempt"]).toBe("1");
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 1, fence: 2 }]);
  });

  test("the claims of a process are its own while it is connected, and are taken back long before their leases once it is gone", async () => {
    const { databaseUrl, database } = store;
    const node = await openDatabase({ databaseUrl, dataDirectory: "", schema: "ad_service", migrations });
    await node.listen("deliveries", () => {});
    let looks = 0;
    const counted: Database = {
      ...database,
      async run(query, values) {
        const rows = await database.run(query, values);
        if (query.name === "deliveries.gone-processes") looks += 1;
        return rows;
      },
    };
    await fixture.setEndpoint({ max_in_flight: 2 });
    await fixture.enqueue(4);
    expect(await claimDeliveries(node, { limit: 2, leaseSeconds: 3600 })).toHaveLength(2);
    running.push(startTestDelivery(counted, { goneMs: 200, sweepMs: 20 }));
    await expect.poll(() => looks, { timeout: 20_000 }).toBeGreaterThan(30);
    expect((await states()).toSorted()).toEqual(["sending", "sending", "waiting", "waiting"]);
    await node.close();
    await eventually(states, everyState("delivered"));
    expect(endpoint.received).toHaveLength(4);
    expect(endpoint.received.every(({ headers }) => headers["webhook-attempt"] === "1")).toBe(true);
  });

  test("of two workers that have claimed one delivery only the later may record it", async () => {
    await fixture.enqueue();
    const [first] = await claimAll(-1);
    await sweepDeliveries(store.database);
    const [second] = await claimAll(30);
    if (!first || !second) throw new Error("nothing was claimed");
    expect(second.fence).toBe(first.fence + 1);

    const group = finishing();
    const late = finishedBy(first, { state: "failed" });
    const right = finishedBy(second, { totalMs: 4 });
    expect(await Promise.all([group.submit(late), group.submit(right)])).toEqual([false, true]);
    expect(await states()).toEqual(["delivered"]);
    expect(await fixture.attempts()).toMatchObject([{ attempt: 1, status: 200, total_ms: 4 }]);
  });

  test("a recording after the lease ran out counts if there is no newer claim", async () => {
    await fixture.enqueue();
    const [claim] = await claimAll(-1);
    await sweepDeliveries(store.database);
    if (!claim) throw new Error("nothing was claimed");
    expect(await finishing().submit(finishedBy(claim))).toBe(true);
    expect(await fixture.deliveries()).toMatchObject([{ state: "delivered", attempts: 1 }]);
    expect(await claimAll(30)).toEqual([]);
  });

  test("two nodes send each event once", async () => {
    start();
    start();
    const ids = await fixture.enqueue(200);
    await eventually(states, everyState("delivered"), 30_000);
    expect(endpoint.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(ids.sort());
  });

  test("a slow endpoint has four requests in flight at most, and its backlog does not delay another", async () => {
    const gate = Promise.withResolvers<void>();
    endpoint.answer = (response) => void gate.promise.then(() => response.end());
    const other = await openTestEndpoint();
    const otherFixture = await openDeliveryFixture(store.database, { webhookUrl: other.url });
    start();
    await fixture.enqueue(300);
    await eventually(
      () => endpoint.received.length,
      (count) => count >= 4,
    );
    // The first endpoint answers none of its four: whatever waited for it would wait for minutes.
    await otherFixture.enqueue(20);
    await eventually(
      () => other.received.length,
      (count) => count === 20,
    );
    expect(endpoint.maxAtOnce).toBe(4);
    gate.resolve();
    await other.close();
  });

  test("a node keeps to its limit of concurrent requests; prefetched claims are sent next, or released when it stops", async () => {
    const gate = Promise.withResolvers<void>();
    endpoint.answer = (response) => void gate.promise.then(() => response.end());
    const delivery = start({ perNode: 2, prefetch: 2 });
    await fixture.enqueue(12);
    await eventually(states, (seen) => seen.filter((state) => state === "sending").length === 4);
    await eventually(
      () => endpoint.received.length,
      (count) => count === 2,
    );
    gate.resolve();
    await eventually(
      () => endpoint.received.length,
      (count) => count >= 6,
    );
    await delivery.stop();
    expect(endpoint.maxAtOnce).toBe(2);
    expect(await states()).not.toContain("sending");
  });

  test("stopping waits for requests in flight and claims no more", async () => {
    endpoint.answer = (response) => void setTimeout(() => response.end(), 300);
    const delivery = start();
    await fixture.enqueue(12);
    await eventually(
      () => endpoint.received.length,
      (count) => count === 4,
    );
    await delivery.stop();
    const seen = await states();
    expect(seen.filter((state) => state === "delivered")).toHaveLength(4);
    expect(seen.filter((state) => state === "waiting")).toHaveLength(8);
    expect(endpoint.received).toHaveLength(4);
  });

  test("deliveries still in flight when the stop no longer waits are released and consume no attempt", async () => {
    endpoint.answer = () => {};
    const delivery = start({ drainMs: 100 });
    await fixture.enqueue();
    await eventually(
      () => endpoint.received.length,
      (count) => count === 1,
    );
    await delivery.stop();
    expect(await fixture.deliveries()).toMatchObject([{ state: "waiting", attempts: 0 }]);
    expect(await fixture.attempts()).toEqual([]);
  });

  test("an attempt does not start if too little of its lease is left", async () => {
    const delivery = start({ leaseLeftSeconds: 31 });
    await fixture.enqueue();
    await eventually(fixture.deliveries, ([row]) => (row?.fence ?? 0) >= 2);
    await delivery.stop();
    expect(endpoint.received).toHaveLength(0);
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 0 }]);
  });

  describe("at-most-once bots", () => {
    beforeEach(() => fixture.deliverAtMostOnce());

    test("a crashed worker leaves the event unknown, and it is not sent again", async () => {
      await fixture.enqueue();
      await claimAll(-1);
      start();
      await eventually(states, everyState("unknown"));
      startedDeliveries(store.database).wake();
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(endpoint.received).toHaveLength(0);
      expect(await fixture.deliveries()).toMatchObject([{ attempts: 1 }]);
    });

    test("an answer other than 2xx ends the delivery, and so does no answer", async () => {
      endpoint.answer = (response, { headers }) =>
        headers["webhook-id"]?.includes(refused) ? response.writeHead(503).end() : response.destroy();
      const [refused = "", lost] = await fixture.enqueue(2);
      start();
      await eventually(states, (seen) => seen.every((state) => state === "failed" || state === "unknown"));
      const byId = new Map((await fixture.deliveries()).map((row) => [row.event_id, row.state]));
      expect([byId.get(refused), byId.get(lost ?? "")]).toEqual(["failed", "unknown"]);
      expect(endpoint.received).toHaveLength(2);
    });

    test("a request that was certainly not sent is retried", async () => {
      await endpoint.close();
      start();
      await fixture.enqueue();
      await eventually(fixture.attempts, (attempts) => attempts.length === 1);
      expect(await fixture.attempts()).toMatchObject([{ error_class: "refused" }]);
      expect(await fixture.deliveries()).toMatchObject([{ state: "waiting", attempts: 1 }]);
    });
  });

  test("an event of a bot without an address is held, and sent once there is one", async () => {
    await fixture.moveTo(null);
    start();
    await fixture.enqueue();
    expect(await states()).toEqual(["held"]);
    await fixture.moveTo(endpoint.url);
    await eventually(states, everyState("delivered"));
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 1 }]);
  });

  test("a waiting event is held without an attempt when the address is removed", async () => {
    await fixture.enqueue();
    await fixture.moveTo(null);
    start();
    await eventually(states, everyState("held"));
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 0 }]);
  });

  test("a redirect is a failure, and its target receives nothing", async () => {
    const second = await openTestEndpoint();
    endpoint.answer = (response) => response.writeHead(307, { location: second.url }).end();
    start();
    await fixture.enqueue();
    await eventually(fixture.attempts, (attempts) => attempts.length === 1);
    const redirected = { status: 307, error_class: "redirect", response_text: `redirected to ${second.url}` };
    expect(await fixture.attempts()).toMatchObject([redirected]);
    expect(second.received).toHaveLength(0);
    await second.close();
  });

  test("Retry-After postpones the next attempt by at most an hour", async () => {
    endpoint.answer = (response) => response.writeHead(429, { "retry-after": "99999999" }).end();
    start();
    await fixture.enqueue();
    const [attempt] = await eventually(fixture.attempts, (attempts) => attempts.length === 1);
    const waited = ((attempt?.next_at?.getTime() ?? 0) - (attempt?.started_at.getTime() ?? 0)) / 1000;
    expect(waited).toBeGreaterThanOrEqual(3600);
    expect(waited).toBeLessThan(3660);
  });

  test("a code earns each event only once, also by concurrent statements", async () => {
    const code = "earned-once";
    const made = await Promise.all(Array.from({ length: 16 }, () => fixture.enqueue(1, { code })));
    expect(made.flat()).toHaveLength(1);
    expect(await fixture.enqueue(1, { code, event: "direct_link" })).toHaveLength(1);
    expect(await fixture.deliveries()).toHaveLength(2);
  });
});
