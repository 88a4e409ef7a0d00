import { verify } from "@intermission/ad-core/signature";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startMisbehavingServer } from "../../test/faults/misbehaving-server.ts";
import {
  eventually,
  openDeliveryFixture,
  openTestEndpoint,
  startTestDelivery,
  type TestEndpoint,
  testSecretBox,
} from "../../test/fixtures/delivery-fixture.ts";
import { comeBackAtOnce } from "../../test/fixtures/recovery-fixture.ts";
import { openApiTokens } from "../bots/authenticate-client.ts";
import { activateToken, createToken } from "../bots/tokens.ts";
import { migrations } from "../migrations.ts";

/** Faults around an endpoint while its events are being sent. */
const disableAll = statement<never>("test.disable-all", "update endpoints set state = 'disabled'");

describe("faults around deliveries", () => {
  let store: TestDatabase;
  let endpoint: TestEndpoint;
  let fixture: Awaited<ReturnType<typeof openDeliveryFixture>>;
  let running: { stop(): Promise<void> }[] = [];

  const start = (limits?: Parameters<typeof startTestDelivery>[1]) => {
    running.push(startTestDelivery(store.database, limits));
  };
  const states = async () => (await fixture.deliveries()).map(({ state }) => state);
  const all = (state: string) => (seen: string[]) => seen.length > 0 && seen.every((each) => each === state);
  const arrived = (count: number) =>
    eventually(
      () => endpoint.received.length,
      (received) => received >= count,
    );

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    endpoint = await openTestEndpoint();
    fixture = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await Promise.all(running.map(({ stop }) => stop()));
    running = [];
    await store.database.run(disableAll, []);
    await endpoint.close();
  });

  test("an endpoint that fails every other call receives every event", async () => {
    let calls = 0;
    endpoint.answer = (response) => response.writeHead(calls++ % 2 === 0 ? 500 : 200).end();
    start();
    await fixture.enqueue(8);
    await arrived(8);
    await eventually(() => fixture.makeDue().then(states), all("delivered"));
    expect(new Set(endpoint.received.map(({ headers }) => headers["webhook-id"])).size).toBe(8);
  });

  /** Answers one request on each connection, then closes it when the next request arrives, which it discards. */
  async function openClosingEndpoint(received: string[]) {
    const server = await startMisbehavingServer((socket) => {
      socket.once("data", (request) => {
        received.push(/webhook-id: (\S+)/i.exec(request.toString())?.[1] ?? "");
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        socket.once("data", () => socket.resetAndDestroy());
      });
    });
    running.push({ stop: async () => server.close() });
    return server;
  }

  test.each(["at-most-once", "at-least-once"] as const)(
    "an endpoint that closes kept connections during a write loses no event and costs no attempt, %s",
    async (deliveryMode) => {
      const received: string[] = [];
      const server = await openClosingEndpoint(received);
      await fixture.moveTo(`http://127.0.0.1:${server.port}/hook`);
      if (deliveryMode === "at-most-once") await fixture.deliverAtMostOnce();
      start();
      const ids: string[] = [];
      for (let round = 0; round < 10; round++) {
        ids.push(...(await fixture.enqueue(4)));
        await eventually(states, (seen) => !seen.includes("waiting") && !seen.includes("sending"));
      }
      expect(await states()).toEqual(ids.map(() => "delivered"));
      expect(received.toSorted()).toEqual(ids.toSorted());
      expect((await fixture.attempts()).map(({ attempt }) => attempt)).toEqual(ids.map(() => 1));
    },
    30_000,
  );

  test("an endpoint that is removed while events are in flight loses none: answered ones count, the rest is held", async () => {
    const release = Promise.withResolvers<void>();
    endpoint.answer = (response) => void release.promise.then(() => response.end());
    start();
    await fixture.enqueue(6);
    await arrived(4);
    await fixture.moveTo(null);
    release.resolve();
    await eventually(
      states,
      (seen) => seen.filter((state) => state === "delivered").length === 4 && !seen.includes("waiting"),
    );
    expect((await states()).filter((state) => state === "held")).toHaveLength(2);
  });

  test("an endpoint that is disabled while events are in flight keeps answered ones; the rest is held until it is active", async () => {
    const release = Promise.withResolvers<void>();
    endpoint.answer = (response) => void release.promise.then(() => response.writeHead(503).end());
    start();
    await fixture.enqueue(6);
    await arrived(4);
    await fixture.setEndpoint({ state: "disabled", disabled_reason: "operator" });
    release.resolve();
    await eventually(states, all("held"));
    expect(await fixture.endpoint()).toMatchObject({ state: "disabled", in_flight: 0 });
    endpoint.answer = (response) => response.end();
    await fixture.setEndpoint({ state: "active", backoff_until: Number.NEGATIVE_INFINITY });
    await eventually(states, all("delivered"));
  });

  test("a token that is rotated while an event waits signs the next attempt; during the rotation both tokens sign", async () => {
    endpoint.answer = (response) => response.writeHead(500).end();
    start();
    await fixture.enqueue();
    await arrived(1);
    const deps = { database: store.database, secretBox: testSecretBox };
    const created = await createToken(deps, { botId: fixture.botId, now: new Date() });
    if (created.outcome !== "created") throw new Error(created.outcome);
    await activateToken(openApiTokens(fixture.bots), {
      botId: fixture.botId,
      tokenId: created.entry.tokenId,
      now: new Date(),
    });
    // A node caches tokens for at most a second.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    endpoint.answer = (response) => response.end();
    await eventually(fixture.attempts, (attempts) => attempts.length === 1);
    await fixture.makeDue();
    await eventually(states, all("delivered"));
    const last = endpoint.received.at(-1);
    if (!last) throw new Error("nothing arrived");
    expect(verify(last.body, last.headers["x-signature"], [created.token])).toBe(true);
    expect(verify(last.body, last.headers["x-signature"], [fixture.token])).toBe(false);
    expect(String(last.headers["webhook-signature"]).split(" ")).toHaveLength(2);
  });

  test.each([-3_600_000, 3_600_000])(
    "a node whose clock is off by %i ms sends neither early nor twice",
    async (offMs) => {
      endpoint.answer = (response) => response.writeHead(500).end();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offMs });
      start();
      const [before] = await store.database.run(clockAndDue, [fixture.botId]);
      await fixture.enqueue();
      await eventually(fixture.attempts, (attempts) => attempts.length === 1);
      const [after] = await store.database.run(clockAndDue, [fixture.botId]);
      // The first retry comes 5 s after the attempt, plus a fifth at most.
      expect(after?.due).toBeGreaterThanOrEqual((before?.now ?? Number.NaN) + 5);
      expect(after?.due).toBeLessThanOrEqual((after?.now ?? Number.NaN) + 6);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(endpoint.received).toHaveLength(1);
    },
  );

  test("a full disk during recording loses no attempt, and no event is sent twice while the lease lasts", async () => {
    await store.database.run(fillDisk, []);
    await store.database.run(watchDisk, []);
    try {
      start();
      await fixture.enqueue(3);
      await arrived(3);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await states()).toEqual(["sending", "sending", "sending"]);
    } finally {
      await store.database.run(emptyDisk, []);
    }
    await eventually(states, all("delivered"));
    expect(endpoint.received).toHaveLength(3);
    expect(await fixture.endpoint()).toMatchObject({ in_flight: 0 });
  });

  test("events held for longer than 30 days are given up with their reason", async () => {
    await fixture.setEndpoint({ state: "disabled" });
    await fixture.enqueue();
    await store.database.run(age, [fixture.botId]);
    start();
    await eventually(fixture.deliveries, (rows) => rows.some(({ end_reason }) => end_reason === "held-too-long"));
  });

  test("endpoints that recover at the same time after an hour: attempts are spread out, none is early, none starves", {
    tags: "long",
    timeout: 120_000,
  }, async () => {
    const endpoints = 1000;
    const seen = await comeBackAtOnce(store.database, endpoints);
    expect(seen).toMatchObject({ early: 0, drained: endpoints });
    // The last probe is at most six minutes away, and the rest of a queue follows immediately.
    expect(seen.secondsToDrain).toBeLessThanOrEqual(380);
    expect(seen.maxStartsPerStep).toBeLessThan(endpoints * 0.15);
  });
});

const clockAndDue = statement<{ now: number; due: number | null }>(
  "test.clock-and-due",
  `select extract(epoch from now())::float8 as now, extract(epoch from max(due_at))::float8 as due
   from deliveries where bot_id = $1`,
);
const fillDisk = statement<never>(
  "test.fill-disk",
  `create function refuse() returns trigger language plpgsql as
   $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
);
const watchDisk = statement<never>(
  "test.watch-disk",
  "create trigger full_disk before insert on delivery_attempts for each statement execute function refuse()",
);
const emptyDisk = statement<never>("test.empty-disk", "drop function refuse() cascade");
const age = statement<never>(
  "test.age",
  "update deliveries set created_at = created_at - interval '31 days' where bot_id = $1",
);
