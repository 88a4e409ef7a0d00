import type { ReplayScope } from "@intermission/operator-api/deliveries";
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
import { migrations } from "../migrations.ts";
import { claimDeliveries, releaseDeliveries } from "./claim-deliveries.ts";
import { countReplayable, replayDeliveries, replayDelivery } from "./replay-deliveries.ts";

const revokeTokens = statement<never>(
  "test.revoke-tokens",
  "update bot_tokens set state = 'revoked' where bot_id = $1",
);

describe("replays", () => {
  let store: TestDatabase;
  let endpoint: TestEndpoint;
  let fixture: Awaited<ReturnType<typeof openDeliveryFixture>>;
  let sender: { stop(): Promise<void> } | undefined;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    endpoint = await openTestEndpoint();
    fixture = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
  });
  afterEach(async () => {
    await sender?.stop();
    sender = undefined;
    await endpoint.close();
  });

  const send = () => {
    sender ??= startTestDelivery(store.database);
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000);
  const deps = () => ({ database: store.database, deliveries: startedDeliveries(store.database) });
  const replayOne = (eventId: string) => replayDelivery(deps(), { botId: fixture.botId, eventId });
  /** Sets deliveries to states that they would reach only after hours of attempts. */
  const set = (eventIds: readonly string[], change: string) =>
    store.database.run(
      // Unnamed: the times in it make each text different.
      { name: "", text: `update deliveries set ${change} where bot_id = $1 and event_id = any ($2)` },
      [fixture.botId, eventIds],
    );
  const stateOf = async (eventId: string) => {
    const rows = await fixture.deliveries();
    return rows.find(({ event_id }) => event_id === eventId);
  };
  const answerWith = (status: number) => {
    endpoint.answer = (response) => response.writeHead(status).end();
  };
  const delivered = async () => {
    const [eventId = ""] = await fixture.enqueue();
    send();
    await eventually(
      () => stateOf(eventId),
      (row) => row?.state === "delivered",
    );
    return eventId;
  };

  describe("one event", () => {
    test("that was delivered is sent again with the same id and bytes, and stays delivered when that fails", async () => {
      const eventId = await delivered();
      answerWith(500);
      expect(await replayOne(eventId)).toEqual({ outcome: "replayed", notBefore: null });
      await eventually(
        () => endpoint.received.length,
        (count) => count === 2,
      );
      await eventually(
        () => stateOf(eventId),
        (row) => row?.state === "delivered",
      );
      const [first, second] = endpoint.received;
      expect(second?.body).toEqual(first?.body);
      expect(second?.headers["webhook-id"]).toBe(eventId);
      expect(await fixture.attempts()).toMatchObject([
        { attempt: 1, status: 200, is_replay: false },
        { attempt: 2, status: 500, is_replay: true, next_at: null },
      ]);
      expect(await stateOf(eventId)).toMatchObject({ resume_state: null, schedule_step: 0 });
    });

    test("that waits gets an attempt immediately, and if that fails keeps its time and its step of the schedule", async () => {
      const [eventId = ""] = await fixture.enqueue();
      const due = inAnHour();
      await set([eventId], `attempts = 4, schedule_step = 4, due_at = '${due.toISOString()}'`);
      answerWith(500);
      send();
      expect(await replayOne(eventId)).toMatchObject({ outcome: "replayed" });
      await eventually(fixture.attempts, (attempts) => attempts.length === 1);
      expect(await stateOf(eventId)).toMatchObject({
        state: "waiting",
        schedule_step: 4,
        due_at: due,
        resume_state: null,
      });
      answerWith(204);
      await replayOne(eventId);
      await eventually(
        () => stateOf(eventId),
        (row) => row?.state === "delivered",
      );
    });

    test("that is already due is sent once, not twice", async () => {
      const [eventId = ""] = await fixture.enqueue();
      expect(await replayOne(eventId)).toMatchObject({ outcome: "replayed" });
      expect(await stateOf(eventId)).toMatchObject({ state: "waiting", resume_state: null });
    });

    test("that failed starts a new schedule", async () => {
      const [eventId = ""] = await fixture.enqueue();
      await set([eventId], "state = 'failed', attempts = 12, schedule_step = 12, end_reason = 'attempts-used-up'");
      answerWith(500);
      send();
      await replayOne(eventId);
      await eventually(fixture.attempts, (attempts) => attempts.length === 1);
      const row = await stateOf(eventId);
      expect(row).toMatchObject({
        state: "waiting",
        attempts: 13,
        schedule_step: 1,
        end_reason: null,
        resume_state: null,
      });
      expect(row?.due_at.getTime()).toBeLessThan(Date.now() + 60_000);
    });

    test("of an at-most-once bot is sent once for each request, whatever its state was", async () => {
      await fixture.deliverAtMostOnce();
      const ids = await fixture.enqueue(4);
      const [unknown = "", failed = "", wasDelivered = "", waiting = ""] = ids;
      await set([unknown], "state = 'unknown', attempts = 1, end_reason = 'at-most-once'");
      await set([failed], "state = 'failed', attempts = 1, end_reason = 'at-most-once'");
      await set([wasDelivered], "state = 'delivered', attempts = 1");
      await set([waiting], "attempts = 1, schedule_step = 1, due_at = now() + interval '1 hour'");
      answerWith(500);
      send();
      for (const eventId of ids) expect(await replayOne(eventId)).toMatchObject({ outcome: "replayed" });
      const rows = await eventually(fixture.deliveries, (all) =>
        all.every(({ state }) => state !== "waiting" && state !== "sending"),
      );
      expect(rows.map(({ state }) => state).sort()).toEqual(["delivered", "failed", "failed", "unknown"]);
      expect(endpoint.received).toHaveLength(4);
    });

    test("is refused and unchanged if it is in progress, unknown or a test", async () => {
      const [sending = "", replaying = "", isTest = ""] = await fixture.enqueue(3);
      await set([sending], "state = 'sending', lease_until = now() + interval '30 seconds'");
      await set([replaying], "resume_state = 'delivered'");
      await set([isTest], "state = 'failed', end_reason = 'test'");
      await store.database.run(statement("test.make-test", "update events set is_test = true where event_id = $1"), [
        isTest,
      ]);
      const before = await fixture.deliveries();
      expect(await replayOne(sending)).toEqual({ outcome: "under-way" });
      expect(await replayOne(replaying)).toEqual({ outcome: "under-way" });
      expect(await replayOne(isTest)).toEqual({ outcome: "test" });
      expect(await replayOne("evt_none")).toEqual({ outcome: "unknown-event" });
      expect(await fixture.deliveries()).toEqual(before);
      await set([sending], "state = 'delivered', lease_until = null");
    });

    test.each([
      ["no-endpoint", (on: typeof fixture) => on.moveTo(null)],
      ["pending", (on: typeof fixture) => on.setEndpoint({ state: "pending" })],
      ["operator", (on: typeof fixture) => on.setEndpoint({ state: "disabled", disabled_reason: "operator" })],
      ["gone", (on: typeof fixture) => on.setEndpoint({ state: "disabled", disabled_reason: "gone" })],
      ["failing", (on: typeof fixture) => on.setEndpoint({ state: "disabled", disabled_reason: "failing" })],
      ["no-token", (on: typeof fixture) => store.database.run(revokeTokens, [on.botId])],
    ])("is refused with the reason while its endpoint is blocked (%s)", async (blockedReason, hinder) => {
      const [eventId = ""] = await fixture.enqueue();
      await set([eventId], "state = 'delivered'");
      await hinder(fixture);
      expect(await replayOne(eventId)).toEqual({ outcome: "held", blockedReason });
      expect(await stateOf(eventId)).toMatchObject({ state: "delivered" });
    });

    test("whose attempt is being recorded at the same time is sent again if `replayed` is returned", async () => {
      const [eventId = ""] = await fixture.enqueue();
      await set([eventId], "state = 'sending', lease_until = now() + interval '30 seconds'");
      const finish =
        "update deliveries set state = 'delivered', lease_until = null where bot_id = $1 and event_id = $2";
      const replayed = await store.database.transaction(async (tx) => {
        await tx.run(statement("test.finish", finish), [fixture.botId, eventId]);
        const replaying = replayOne(eventId);
        await eventually(
          () =>
            store.database.run(
              statement<{ pid: number }>("test.waits", "select pid from pg_locks where not granted"),
              [],
            ),
          (waiting) => waiting.length > 0,
        );
        return { replaying };
      });
      expect(await replayed.replaying).toEqual({ outcome: "replayed", notBefore: null });
      expect(await stateOf(eventId)).toMatchObject({ state: "waiting", resume_state: "delivered" });
    });

    test("that is held but no longer blocked is sent immediately", async () => {
      const [eventId = ""] = await fixture.enqueue();
      await set([eventId], "state = 'held', schedule_step = 2");
      expect(await replayOne(eventId)).toEqual({ outcome: "replayed", notBefore: null });
      expect(await stateOf(eventId)).toMatchObject({ state: "waiting", schedule_step: 2, resume_state: null });
    });

    test("reports until when its endpoint is in backoff", async () => {
      const eventId = await delivered();
      const until = inAnHour();
      await fixture.setEndpoint({ backoff_until: until });
      expect(await replayOne(eventId)).toEqual({ outcome: "replayed", notBefore: until });
    });

    test("is sent once for each accepted request of many concurrent ones", async () => {
      const eventId = await delivered();
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => replayOne(eventId)));
      const { length } = outcomes.filter(({ outcome }) => outcome === "replayed");
      await eventually(
        () => endpoint.received.length,
        (count) => count === 1 + length,
      );
      await eventually(
        () => stateOf(eventId),
        (row) => row?.state === "delivered",
      );
      expect(endpoint.received).toHaveLength(1 + length);
      expect(await fixture.attempts()).toHaveLength(1 + length);
    });
  });

  test("replays during deliveries lose no event, leave none behind and send none unrecorded", {
    tags: "long",
  }, async () => {
    // Every third answer is a failure, and waiting deliveries become due immediately.
    endpoint.answer = (response) => response.writeHead(endpoint.received.length % 3 === 0 ? 500 : 200).end();
    await fixture.setEndpoint({ max_in_flight: 20 });
    const made = await fixture.enqueue(60);
    send();
    const since = new Date(Date.now() - 60_000);
    for (let round = 0; round < 20; round++) {
      const some = made.filter(() => Math.random() < 0.2);
      const range = { botId: fixture.botId, scope: "everything", since, until: new Date() } as const;
      await Promise.all([
        ...some.map(replayOne),
        round % 5 === 0 && replayDeliveries(deps(), range),
        fixture.makeDue(),
      ]);
    }
    endpoint.answer = (response) => response.end();
    const rows = await eventually(
      async () => {
        await fixture.makeDue();
        return fixture.deliveries();
      },
      (all) => all.every(({ state }) => state === "delivered"),
      20_000,
    );
    const attempts = await fixture.attempts();
    expect(rows.every(({ resume_state, resume_due_at }) => resume_state === null && resume_due_at === null)).toBe(true);
    expect(attempts).toHaveLength(endpoint.received.length);
    const bodies = endpoint.received.map(({ headers, body }) => `${headers["webhook-id"]} ${body}`);
    expect(new Set(bodies).size).toBe(60);
    expect(await fixture.endpoint()).toMatchObject({ in_flight: 0 });
  });

  describe("many events", () => {
    const range = (scope: ReplayScope, since = new Date(Date.now() - 60_000)) => {
      const until = new Date(Date.now() + 1000);
      return { botId: fixture.botId, scope, since, until };
    };
    /** One delivery of each state, by name. */
    async function oneOfEach() {
      const [failed = "", unknown = "", wasDelivered = "", waiting = "", sending = "", held = "", isTest = ""] =
        await fixture.enqueue(7);
      await set([failed], "state = 'failed', end_reason = 'attempts-used-up', schedule_step = 12");
      await set([unknown], "state = 'unknown', end_reason = 'at-most-once'");
      await set([wasDelivered], "state = 'delivered'");
      await set([waiting], "due_at = now() + interval '1 hour', schedule_step = 3");
      await set([sending], "state = 'sending', lease_until = now() + interval '1 hour'");
      await set([held], "state = 'held'");
      await set([isTest], "state = 'failed', end_reason = 'test'");
      await store.database.run(statement("test.make-test", "update events set is_test = true where event_id = $1"), [
        isTest,
      ]);
      return { failed, unknown, wasDelivered, waiting, sending, held, isTest };
    }

    test("scope `failed` selects all that failed, and nothing else", async () => {
      const { failed } = await oneOfEach();
      const before = await fixture.deliveries();
      expect(await countReplayable(store.database, range("failed"))).toEqual({
        count: 1,
        unknown: 1,
        isMore: false,
        keptSince: null,
      });
      expect(await replayDeliveries(deps(), range("failed"))).toEqual({
        outcome: "replayed",
        replayed: 1,
        next: null,
      });
      expect(await stateOf(failed)).toMatchObject({ state: "waiting", schedule_step: 0, end_reason: null });
      const others = ({ event_id }: { event_id: string }) => event_id !== failed;
      expect((await fixture.deliveries()).filter(others)).toEqual(before.filter(others));
    });

    test("scope `everything` selects failed, delivered and waiting ones, never unknown, held, sending or test ones", async () => {
      const { failed, wasDelivered, waiting } = await oneOfEach();
      const before = await fixture.deliveries();
      const due = (await stateOf(waiting))?.due_at;
      expect(await countReplayable(store.database, range("everything"))).toEqual({
        count: 3,
        unknown: 1,
        isMore: false,
        keptSince: null,
      });
      expect(await replayDeliveries(deps(), range("everything"))).toMatchObject({ replayed: 3, next: null });
      expect(await stateOf(wasDelivered)).toMatchObject({ state: "waiting", resume_state: "delivered" });
      expect(await stateOf(waiting)).toMatchObject({ resume_state: "waiting", resume_due_at: due, schedule_step: 3 });
      const others = ({ event_id }: { event_id: string }) => ![failed, wasDelivered, waiting].includes(event_id);
      expect((await fixture.deliveries()).filter(others)).toEqual(before.filter(others));
    });

    test("are selected by the time at which they were earned, both ends included, and never from another bot", async () => {
      const other = await openDeliveryFixture(store.database, { webhookUrl: endpoint.url });
      const [foreign = ""] = await other.enqueue();
      const [early = ""] = await fixture.enqueue();
      await eventually(Date.now, (now) => now > msOf(early));
      const middle = await fixture.enqueue(2);
      await eventually(Date.now, (now) => now > msOf(middle[0] ?? ""));
      const [late = ""] = await fixture.enqueue();
      const all = [early, ...middle, late];
      await set(all, "state = 'failed'");
      const at = new Date(msOf(middle[0] ?? ""));
      const replayed = await replayDeliveries(deps(), { ...range("failed", at), until: at });
      expect(replayed).toMatchObject({ replayed: 2, next: null });
      const waiting = (await fixture.deliveries()).filter(({ state }) => state === "waiting");
      expect(waiting.map(({ event_id }) => event_id)).toEqual([...middle].sort());
      expect(await other.deliveries()).toMatchObject([{ event_id: foreign, state: "waiting" }]);
    });

    test("that exceed one batch are reached by the cursor, each once", { tags: "long" }, async () => {
      const made = await fixture.enqueue(2300);
      await set(made, "state = 'failed'");
      expect(await countReplayable(store.database, range("failed"))).toMatchObject({
        count: 2300,
        isMore: false,
        keptSince: null,
      });
      const batches: number[] = [];
      const filter = range("failed");
      for (let after: string | undefined, isOver = false; !isOver; ) {
        const batch = await replayDeliveries(deps(), { ...filter, after });
        if (batch.outcome !== "replayed") throw new Error(batch.outcome);
        batches.push(batch.replayed);
        after = batch.next ?? undefined;
        isOver = batch.next === null;
      }
      expect(batches).toEqual([1000, 1000, 300]);
      expect((await fixture.deliveries()).every(({ state }) => state === "waiting")).toBe(true);
      await set(made, "state = 'delivered'");
    });

    test("are sent after new events, those that wait for their next attempt, and individual replays", async () => {
      const old = await fixture.enqueue(30);
      const [retrying = "", named = "", namedFailed = ""] = await fixture.enqueue(3);
      await set([...old, named], "state = 'delivered'");
      await set([retrying], "due_at = now() + interval '1 hour', schedule_step = 3");
      await set([namedFailed], "state = 'failed', end_reason = 'attempts-used-up'");
      expect(await replayDeliveries(deps(), range("everything"))).toMatchObject({ replayed: 33 });
      // Released claims change nothing. The first four are the one that waited, and three in bulk.
      const claims = await claimDeliveries(store.database, { limit: 100, leaseSeconds: 30 });
      const own = claims.filter(({ botId }) => botId === fixture.botId);
      expect(own).toHaveLength(4);
      expect(own.map(({ eventId }) => eventId)).toContain(retrying);
      await releaseDeliveries(store.database, claims, { to: "waiting" });
      await fixture.setEndpoint({ max_in_flight: 1 });
      const fresh = await fixture.enqueue(5);
      expect(await replayOne(named)).toMatchObject({ outcome: "under-way" });
      expect(await replayOne(namedFailed)).toMatchObject({ outcome: "replayed" });
      const [later = ""] = await fixture.enqueue();
      await set([later], "due_at = now() + interval '1 hour', schedule_step = 3");

      send();
      const sent = () => endpoint.received.map(({ headers }) => headers["webhook-id"]);
      await eventually(sent, ({ length }) => length === 38);
      expect(new Set(sent().slice(0, 8))).toEqual(new Set([...fresh, retrying, named, namedFailed]));
      expect(new Set(sent().slice(8))).toEqual(new Set(old));
      expect(await stateOf(later)).toMatchObject({ state: "waiting", attempts: 0 });
    });

    test("of an at-most-once bot are sent again only if they failed: delivered ones are not sent twice", async () => {
      await fixture.deliverAtMostOnce();
      expect(await replayDeliveries(deps(), range("everything"))).toEqual({ outcome: "at-most-once" });
      expect(await replayDeliveries(deps(), range("failed"))).toMatchObject({ outcome: "replayed" });
    });

    test("are refused while the endpoint is blocked, and for an unknown bot", async () => {
      await fixture.setEndpoint({ state: "disabled", disabled_reason: "gone" });
      expect(await replayDeliveries(deps(), range("failed"))).toEqual({ outcome: "held", blockedReason: "gone" });
      expect(await replayDeliveries(deps(), { ...range("failed"), botId: "5" })).toEqual({
        outcome: "unknown-bot",
      });
    });
  });
});

/** The time of an event id: a UUIDv7 begins with its millisecond. */
function msOf(eventId: string): number {
  return Number.parseInt(eventId.slice(4).replaceAll("-", "").slice(0, 12), 16);
}
