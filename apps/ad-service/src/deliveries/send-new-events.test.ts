import { type Database, statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  eventually,
  openDeliveryFixture,
  openTestEndpoint,
  startTestDelivery,
  type TestEndpoint,
} from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import { type Deliveries, enqueueWebhook, noDeliveries } from "./enqueue-webhook.ts";

/** Wraps the database of a node and records the names of completed statements. */
function recordStatements(database: Database): { recorded: Database; names: string[] } {
  const names: string[] = [];
  const recorded: Database = {
    ...database,
    async run(query, values) {
      const rows = await database.run(query, values);
      names.push(query.name);
      return rows;
    },
  };
  return { recorded, names };
}

/** A node that is killed when its statement commits. */
const killedNode: Deliveries = {
  async sendNew(maxEvents, make) {
    return (await make(maxEvents)).result;
  },
  wake() {},
};

const makeForBots = statement<{ botId: string; number: number }>(
  "test.make-for-bots",
  `with earned as (
    select bot_id, 'evt_' || gen_random_uuid() as event_id, 'rewarded'::text as event, '1'::text as user_id,
      gen_random_uuid()::text as code, null::text as reference, false as is_test, null::text as campaign_id,
      null::text as creative_id, null::bigint as price_micros, null::bigint as revenue_micros, now() as occurred_at, '{}'::text as body
    from unnest($1::text[]) as bot_id, generate_series(1, $2::integer)
  ), ${enqueueWebhook({ from: "earned", slots: "$3::integer" })}
  select bot_id as "botId", count(*) as number from claimed_events group by bot_id`,
);

type Fixture = Awaited<ReturnType<typeof openDeliveryFixture>>;

const lockClaims = statement("test.lock-claims", "select from endpoint_claims where bot_id = $1 for update");
const lockEndpoint = statement("test.lock-endpoint", "select from endpoints where bot_id = $1 for update");

describe("new events", () => {
  let store: TestDatabase;
  let endpoint: TestEndpoint;
  let fixture: Fixture;
  let running: { stop(): Promise<void> }[] = [];

  /**
   * A node that does not poll. It has already looked for waiting deliveries, so that it knows that there is no backlog, and
   * has repaired what a clock that jumped would have left, which due times that a test sets may look like.
   */
  async function start(limits?: Parameters<typeof startTestDelivery>[1]) {
    const { recorded, names } = recordStatements(store.database);
    const node = startTestDelivery(recorded, { pollMs: 600_000, ...limits });
    running.push(node);
    const atStart = ["deliveries.next-due", "deliveries.backoffs-after-clock-jump"];
    await expect.poll(() => names).toEqual(expect.arrayContaining(atStart));
    names.length = 0;
    return { ...node, names };
  }
  const states = async (of = fixture) => (await of.deliveries()).map(({ state }) => state);
  const delivered = (number: number, of = fixture) =>
    eventually(
      () => states(of),
      (all) => all.filter((state) => state === "delivered").length === number,
      30_000,
    );
  const arrived = () => endpoint.received.map(({ headers }) => String(headers["webhook-id"]));
  const inFlight = async () => (await fixture.endpoint()).in_flight;
  const expireLeases = async () => {
    const expire = statement<never>(
      "test.expire-leases",
      "update deliveries set lease_until = now() - interval '1 s' where bot_id = $1 and state = 'sending'",
    );
    await store.database.run(expire, [fixture.botId]);
  };

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
    const end = statement<never>("test.end", "update deliveries set state = 'failed' where state <> 'delivered'");
    await store.database.run(end, []);
  });

  test("an event for a healthy endpoint is sent without a claim: it is inserted once and updated once", async () => {
    const { deliveries, names } = await start();
    const [eventId] = await fixture.enqueue(1, { by: deliveries });
    await delivered(1);
    await eventually(inFlight, (number) => number === 0);
    expect(arrived()).toEqual([eventId]);
    // Apart from that, the tokens are read once a second and the upkeep runs.
    expect(names.filter((name) => /claim|next-due|finish|release/.test(name))).toEqual(["deliveries.finish"]);
    expect(endpoint.received[0]?.headers["webhook-attempt"]).toBe("1");
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 1, fence: 1, recorded_fence: 1, lease_until: null }]);
    expect(await fixture.attempts()).toMatchObject([{ attempt: 1, status: 200 }]);
  });

  test("two nodes together keep to an endpoint's limit of concurrent requests, and send each event once", {
    tags: "long",
  }, async () => {
    endpoint.answer = (response) => void setTimeout(() => response.end(), 5);
    const nodes = [await start(), await start()];
    const made = await Promise.all(
      Array.from({ length: 60 }, () => nodes.map(({ deliveries }) => fixture.enqueue(2, { by: deliveries }))).flat(),
    );
    const ids = made.flat();
    await delivered(ids.length);
    expect(arrived().toSorted()).toEqual(ids.toSorted());
    expect(endpoint.maxAtOnce).toBeLessThanOrEqual(4);
    expect(await eventually(inFlight, (number) => number === 0)).toBe(0);
  });

  test("one statement claims what each endpoint has capacity for, and in total no more than the slots", async () => {
    const others = [await openDeliveryFixture(store.database, { webhookUrl: endpoint.url }), fixture];
    await fixture.setEndpoint({ max_in_flight: 2 });
    await fixture.setClaims({ claimed: 1, last_served_at: new Date() });
    const botIds = others.map(({ botId }) => botId);
    const claim = async (slots: number) => {
      const claimed = await store.database.run(makeForBots, [botIds, 3, slots]);
      return botIds.map((botId) => claimed.find((row) => row.botId === botId)?.number ?? 0);
    };
    expect(await claim(0)).toEqual([0, 0]);
    const clear = statement<never>("test.clear", "update deliveries set state = 'failed' where state = 'waiting'");
    await store.database.run(clear, []);
    // The one that was served longest ago comes first.
    expect(await claim(2)).toEqual([2, 0]);
    await store.database.run(clear, []);
    expect(await claim(100)).toEqual([2, 1]);
    expect(await inFlight()).toBe(2);
    await store.database.run(clear, []);
    expect(await claim(100)).toEqual([0, 0]);
  });

  test("waiting deliveries are not overtaken: new events go behind due ones, in the order in which they were made", async () => {
    const { deliveries } = await start();
    await fixture.setEndpoint({ max_in_flight: 1 });
    const older = await fixture.enqueue(3, { by: noDeliveries });
    const newer = await fixture.enqueue(1, { by: deliveries });
    await delivered(4);
    expect(arrived().slice(0, 3).toSorted()).toEqual(older.toSorted());
    expect(arrived()[3]).toBe(newer[0]);
  });

  test("deliveries that wait for a later attempt, and bulk replays, do not delay new events", async () => {
    const { deliveries } = await start();
    const change = statement<never>(
      "test.later",
      `update deliveries set due_at = case event_id when $2 then now() + interval '1 hour' else due_at end,
         is_bulk = event_id <> $2
       where bot_id = $1`,
    );
    const [later] = await fixture.enqueue(2, { by: noDeliveries });
    await store.database.run(change, [fixture.botId, later]);
    const [eventId] = await fixture.enqueue(1, { by: deliveries });
    await delivered(1);
    expect(arrived()).toEqual([eventId]);
  });

  test("a node without free slots queues new events, and the endpoint served longest ago comes first", async () => {
    const gate = Promise.withResolvers<void>();
    endpoint.answer = (response) => void gate.promise.then(() => response.end());
    const other = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
    const { deliveries } = await start({ perNode: 1, prefetch: 0 });
    await fixture.enqueue(3, { by: noDeliveries });
    deliveries.wake();
    await eventually(
      () => arrived().length,
      (number) => number === 1,
    );
    const [ofOther] = await other.enqueue(1, { by: deliveries });
    expect(await states(other)).toEqual(["waiting"]);
    gate.resolve();
    await delivered(3);
    await delivered(1, other);
    expect(arrived()[1]).toBe(ofOther);
  });

  test.each([
    ["is in backoff", { backoff_until: new Date(Date.now() + 3_600_000) }, "waiting"],
    // Sooner than the longest time between probes: a later one is taken for the work of a clock that jumped.
    ["has an open breaker", { breaker: "open", probe_at: new Date(Date.now() + 300_000) }, "waiting"],
    ["is probed", { breaker: "half-open", ended: -1 }, "waiting"],
    ["is full", { ended: -4 }, "waiting"],
    ["has not answered a test", { state: "pending" }, "held"],
    ["is disabled", { state: "disabled" }, "held"],
  ] as const)("an event for an endpoint that %s is not claimed", async (_what, change, expected) => {
    await fixture.setEndpoint(change);
    const { deliveries } = await start();
    const reports: boolean[] = [];
    const listening: Deliveries = {
      wake() {},
      sendNew: (maxEvents, make) =>
        deliveries.sendNew(maxEvents, async (slots) => {
          const made = await make(slots);
          reports.push(made.areWaiting);
          return made;
        }),
    };
    await fixture.enqueue(1, { by: listening });
    // Held events wake no loop.
    expect(reports).toEqual([expected === "waiting"]);
    expect(await fixture.deliveries()).toMatchObject([{ state: expected, attempts: 0, fence: 0, lease_until: null }]);
    expect(arrived()).toEqual([]);
  });

  test("a stopping node claims nothing, and immediately releases what it has just claimed", async () => {
    const node = await start();
    let stopped: Promise<void> | undefined;
    const stopping: Deliveries = {
      wake() {},
      sendNew: (maxEvents, make) =>
        node.deliveries.sendNew(maxEvents, async (slots) => {
          const made = await make(slots);
          expect(made.claimed).toHaveLength(1);
          stopped = node.stop();
          return made;
        }),
    };
    await fixture.enqueue(1, { by: stopping });
    await stopped;
    expect(await fixture.deliveries()).toMatchObject([{ state: "waiting", attempts: 0, lease_until: null }]);
    expect(await inFlight()).toBe(0);
    await fixture.enqueue(1, { by: node.deliveries });
    expect(await states()).toEqual(["waiting", "waiting"]);
    expect(arrived()).toEqual([]);
  });

  test("a failed statement returns its slots to the node", async () => {
    const { deliveries } = await start({ perNode: 1, prefetch: 0 });
    const fails = deliveries.sendNew(1, () => Promise.reject(new Error("no store")));
    await expect(fails).rejects.toThrow("no store");
    await fixture.enqueue(1, { by: deliveries });
    await delivered(1);
  });

  test("claims of a killed node are sent by another when the lease ends, and consume no attempt", async () => {
    await fixture.enqueue(2, { by: killedNode });
    expect(await states()).toEqual(["sending", "sending"]);
    expect(await inFlight()).toBe(2);
    await expireLeases();
    await start();
    await delivered(2);
    expect(await fixture.deliveries()).toMatchObject([
      { attempts: 1, fence: 2 },
      { attempts: 1, fence: 2 },
    ]);
    expect(await eventually(inFlight, (number) => number === 0)).toBe(0);
    expect(arrived()).toHaveLength(2);
  });

  test("for an at-most-once bot the committed claim is the attempt: after a kill it is unknown and never sent", async () => {
    await fixture.deliverAtMostOnce();
    await fixture.enqueue(1, { by: killedNode });
    await expireLeases();
    const { deliveries } = await start();
    await eventually(states, ([state]) => state === "unknown");
    await fixture.enqueue(1, { by: deliveries });
    await delivered(1);
    expect(arrived()).toHaveLength(1);
    expect(await fixture.deliveries()).toMatchObject([{ attempts: 1 }, { attempts: 1 }]);
  });

  test("new events wait neither for the claim of another node nor for a recording in progress", async () => {
    const { deliveries } = await start();
    await store.database.transaction(async (tx) => {
      await tx.run(lockClaims, [fixture.botId]);
      await fixture.enqueue(1, { by: deliveries });
      expect(await states()).toEqual(["waiting"]);
    });
    deliveries.wake();
    await delivered(1);
    await eventually(inFlight, (number) => number === 0);
    await store.database.transaction(async (tx) => {
      await tx.run(lockEndpoint, [fixture.botId]);
      await fixture.enqueue(1, { by: deliveries });
      await eventually(
        () => arrived().length,
        (number) => number === 2,
      );
    });
    await delivered(2);
  });

  test("the limit applies when the endpoint was removed and restored while requests were in flight", async () => {
    const gate = Promise.withResolvers<void>();
    endpoint.answer = (response) => void gate.promise.then(() => response.end());
    const { deliveries } = await start();
    await fixture.enqueue(4, { by: deliveries });
    await eventually(
      () => arrived().length,
      (number) => number === 4,
    );
    await fixture.moveTo(null);
    await fixture.moveTo(endpoint.url);
    gate.resolve();
    await delivered(4);
    // They ended, but were not claims of the new row.
    expect(await inFlight()).toBe(-4);
    endpoint.maxAtOnce = 0;
    endpoint.answer = (response) => void setTimeout(() => response.end(), 20);
    await fixture.enqueue(12, { by: deliveries });
    await delivered(16);
    expect(endpoint.maxAtOnce).toBeLessThanOrEqual(4);
    expect(await eventually(inFlight, (number) => number === 0)).toBe(0);
  });
});
