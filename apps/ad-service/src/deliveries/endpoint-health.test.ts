import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import type { FinishedAttempt } from "./attempt-delivery.ts";
import { type ClaimedDelivery, claimDeliveries } from "./claim-deliveries.ts";
import { readEndpointFacts } from "./endpoint-facts.ts";
import { type EndpointHealth, type HealthChange, nextEndpointHealth } from "./endpoint-health.ts";
import { finishDeliveries } from "./record-attempts.ts";

type Fixture = Awaited<ReturnType<typeof openDeliveryFixture>>;
type Outcome = "ok" | "error" | "busy" | "gone";

const status = { ok: 200, error: 500, busy: 429, gone: 410 };
const backoffSeconds = { ok: null, error: null, busy: 60, gone: 600 };

/** Simulates the passing of time by moving all times of an endpoint into the past. */
const pass = statement(
  "test.pass",
  `update endpoints set
     backoff_until = backoff_until - make_interval(secs => $2), probe_at = probe_at - make_interval(secs => $2),
     window_started_at = window_started_at - make_interval(secs => $2),
     last_success_at = last_success_at - make_interval(secs => $2),
     failing_since = failing_since - make_interval(secs => $2), gone_since = gone_since - make_interval(secs => $2),
     state_since = state_since - make_interval(secs => $2)
   where bot_id = $1`,
);

describe("the health of an endpoint", () => {
  let store: TestDatabase;
  const changes: { botId: string; change: HealthChange }[] = [];

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  const newFixture = () => openDeliveryFixture(store.database, { webhookUrl: "http://127.0.0.1:9/hook" });
  const claim = (limit: number) => claimDeliveries(store.database, { limit, leaseSeconds: 30 });
  const wait = (fixture: Fixture, seconds: number) => store.database.run(pass, [fixture.botId, seconds]);

  const changesOf = (fixture: Fixture) =>
    changes.filter(({ botId }) => botId === fixture.botId).map(({ change }) => change);
  const factsOf = async ({ botId }: Fixture) => {
    const facts = (await readEndpointFacts(store.database, [botId], { locking: "unlocked" })).get(botId);
    if (!facts) throw new Error(`bot ${botId} has no endpoint`);
    return facts;
  };

  const finish = async (claims: ClaimedDelivery[], outcomes: Outcome[]) => {
    const group = finishDeliveries(store.database, (botId, change) => changes.push({ botId, change }));
    await Promise.all(
      claims.map((claimed, index) => group.submit(finishedBy(claimed, outcomes[index % outcomes.length] ?? "ok"))),
    );
  };
  /** Claims as many as may be sent, at most one for each outcome, and records these outcomes. */
  const send = async (fixture: Fixture, outcomes: Outcome[]) => {
    await fixture.enqueue(outcomes.length);
    const claims = await claim(outcomes.length);
    await finish(claims, outcomes);
    await store.database.run(sweepAway, [fixture.botId]);
    return claims.length;
  };
  const sendEach = async (fixture: Fixture, outcomes: Outcome[]) => {
    let sent = 0;
    for (const outcome of outcomes) sent += await send(fixture, [outcome]);
    return sent;
  };
  const repeat = (outcome: Outcome, times: number): Outcome[] => Array.from({ length: times }, () => outcome);

  test("the row has the health that the function decides, for any sequence of answers", async () => {
    const outcome = fc.constantFrom<Outcome>("ok", "error", "error", "busy", "gone");
    const steps = fc.array(fc.array(outcome, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(steps, async (batches) => {
        const fixture = await newFixture();
        for (const outcomes of batches) {
          await wait(fixture, 600);
          await fixture.enqueue(outcomes.length);
          const claims = await claim(outcomes.length);
          const before = await factsOf(fixture);
          await finish(claims, outcomes);
          const after = await factsOf(fixture);
          // A batch is recorded in the order of its events.
          const attempts = claims
            .map((claimed, at) => finishedBy(claimed, outcomes[at] ?? "ok"))
            .toSorted((one, other) => (one.eventId < other.eventId ? -1 : 1));
          const decided = nextEndpointHealth(before.health, attempts, { now: after.now, jitter: 0 }).health;
          expect(after.health).toEqual(about(decided));
          await store.database.run(sweepAway, [fixture.botId]);
        }
      }),
      { numRuns: 10 },
    );
  });

  test("nodes that record attempts at one endpoint at the same time lose no failure", async () => {
    const fixture = await newFixture();
    await fixture.setEndpoint({ max_in_flight: 40 });
    await fixture.enqueue(40);
    const claims = await claim(40);
    const nodes = Array.from({ length: 4 }, () => finishDeliveries(store.database, () => {}));
    const isRecorded = await Promise.all(
      claims.map((claimed, at) => nodes[at % nodes.length]?.submit(finishedBy(claimed, "error"))),
    );
    expect(isRecorded).toEqual(Array.from({ length: 40 }, () => true));
    expect(await fixture.endpoint()).toMatchObject({ in_flight: 0, failures_since_success: 40, breaker: "open" });
    await store.database.run(sweepAway, [fixture.botId]);
  });

  test("a health that was decided before an operator disabled the endpoint is decided again", async () => {
    const fixture = await newFixture();
    await fixture.enqueue(2);
    const claims = await claim(2);
    // The operator's statement commits between the read and the write: the write waits for its lock.
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const finishing = store.database.transaction(async (tx) => {
      await tx.run(disable, [fixture.botId]);
      read();
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    await isRead;
    await finish(claims, ["error"]);
    await finishing;
    expect(await fixture.endpoint()).toMatchObject({ state: "disabled", in_flight: 0, failures_since_success: 2 });
    await store.database.run(sweepAway, [fixture.botId]);
  });

  test("ten failures in a row open the breaker; then one delivery at a time probes, and three successes close it", async () => {
    const fixture = await newFixture();
    expect(await sendEach(fixture, repeat("error", 15))).toBe(10);
    expect(await fixture.endpoint()).toMatchObject({ breaker: "open", failures_in_row: 10, in_flight: 0 });
    await wait(fixture, 40);
    expect(await send(fixture, repeat("ok", 4))).toBe(1);
    expect(await fixture.endpoint()).toMatchObject({ breaker: "half-open" });
    expect(await sendEach(fixture, repeat("ok", 2))).toBe(2);
    expect(await fixture.endpoint()).toMatchObject({ breaker: "closed", probe_failures: 0 });
    expect(await send(fixture, repeat("ok", 4))).toBe(4);
    expect(changesOf(fixture)).toEqual([{ change: "failing" }, { change: "recovered" }]);
  });

  test("probes become rarer up to one in 5 minutes, never early, at most 20 % late", async () => {
    const fixture = await newFixture();
    await sendEach(fixture, repeat("error", 10));
    for (const seconds of [1, 2, 4]) {
      await wait(fixture, seconds * 1.2);
      expect(await send(fixture, repeat("error", 3))).toBe(1);
    }
    for (const seconds of [8, 15, 30, 60, 120, 300, 300]) {
      await wait(fixture, seconds - 2);
      expect(await send(fixture, ["error"])).toBe(0);
      await wait(fixture, 2 + seconds * 0.2);
      expect(await send(fixture, repeat("error", 3))).toBe(1);
    }
  });

  test("concurrent claims use an endpoint's limit of requests in flight and never exceed it", async () => {
    const fixture = await newFixture();
    await fixture.setEndpoint({ max_in_flight: 7 });
    await fixture.enqueue(40);
    const claims = (await Promise.all(Array.from({ length: 8 }, () => claim(40)))).flat();
    expect(claims).toHaveLength(7);
    expect(await claim(40)).toHaveLength(0);
    await finish(claims.slice(0, 3), ["ok"]);
    expect(await claim(40)).toHaveLength(3);
    expect(await fixture.endpoint()).toMatchObject({ in_flight: 7 });
    await store.database.run(sweepAway, [fixture.botId]);
  });

  test("only 410 for an hour and for two events disables; a single event, or another answer in between, does not", async () => {
    const fixture = await newFixture();
    await send(fixture, ["gone"]);
    await wait(fixture, 4000);
    await fixture.setEndpoint({ gone_event_id: "evt_z" });
    await sendEach(fixture, ["error"]);
    await wait(fixture, 4000);
    await send(fixture, ["gone"]);
    await wait(fixture, 4000);
    expect(await fixture.endpoint()).toMatchObject({ state: "active", is_gone_for_several: false });
    await send(fixture, ["gone"]);
    expect(await fixture.endpoint()).toMatchObject({ state: "disabled", disabled_reason: "gone" });
    await fixture.enqueue(2);
    expect((await fixture.deliveries()).slice(-2).map(({ state }) => state)).toEqual(["held", "held"]);
  });

  test("the operator is warned once at each mark of progress towards being disabled", async () => {
    const fixture = await newFixture();
    const days = 86_400;
    await sendEach(fixture, repeat("error", 9));
    await fixture.setEndpoint({
      failures_in_row: 0,
      window_attempts: 0,
      window_failures: 0,
      failures_since_success: 40,
    });
    for (const [share, mark] of [
      [2.6 * days, 50],
      [1 * days, 70],
      [0.1 * days, 70],
      [0.9 * days, 90],
    ] as const) {
      await wait(fixture, share);
      await send(fixture, ["error"]);
      expect(await fixture.endpoint()).toMatchObject({ state: "active", warned_percent: mark });
    }
    await wait(fixture, 0.5 * days);
    await send(fixture, ["error"]);
    expect(await fixture.endpoint()).toMatchObject({
      state: "disabled",
      disabled_reason: "failing",
      warned_percent: 100,
    });
    expect(changesOf(fixture)).toEqual([
      ...[50, 70, 90].map((percent) => ({ change: "warned", percent })),
      { change: "disabled", reason: "failing" },
    ]);
  });

  test("an attempt at an address that was changed meanwhile ends, and does not affect the health of the new one", async () => {
    const fixture = await newFixture();
    await fixture.enqueue(4);
    const claims = await claim(4);
    await fixture.moveTo("http://127.0.0.1:10/other");
    await finish(claims, ["error"]);
    expect(await fixture.endpoint()).toMatchObject({ in_flight: 0, failures_in_row: 0, last_status: null });
    await store.database.run(sweepAway, [fixture.botId]);
  });

  test("a commit of unknown outcome may be repeated: an attempt is recorded once", async () => {
    const fixture = await newFixture();
    await fixture.enqueue();
    const claims = await claim(1);
    const group = finishDeliveries(store.database, () => {});
    const [claimed] = claims;
    if (!claimed) throw new Error("nothing was claimed");
    const failed: FinishedAttempt = {
      ...finishedBy(claimed, "error"),
      state: "waiting",
      delaySeconds: 5,
      endReason: null,
    };
    const submitted = [group.submit(failed), group.submit(failed), await group.submit(failed)];
    expect(await Promise.all(submitted)).toEqual([true, true, true]);
    expect(await fixture.deliveries()).toMatchObject([{ state: "waiting", schedule_step: 1, attempts: 1 }]);
    expect(await fixture.endpoint()).toMatchObject({ failures_in_row: 1, in_flight: 0 });
    await store.database.run(sweepAway, [fixture.botId]);
  });
});

const disable = statement<never>(
  "test.disable-one",
  "update endpoints set version = version + 1, state = 'disabled', disabled_reason = 'operator' where bot_id = $1",
);

/** A health with any time of the next probe, which has jitter, and other times within 5 s, since the database's clock runs. */
function about(health: EndpointHealth) {
  const isTime = (name: string) => /At$|Since$|Until$/.test(name);
  const values = Object.entries(health).map(([name, value]) => [
    name,
    isTime(name) && typeof value === "number" && Number.isFinite(value) ? expect.closeTo(value, -4) : value,
  ]);
  return { ...Object.fromEntries(values), probeAt: expect.any(Number) };
}

const sweepAway = statement(
  "test.sweep-away",
  "update deliveries set state = 'failed' where bot_id = $1 and state <> 'delivered'",
);

function finishedBy(claim: ClaimedDelivery, outcome: Outcome): FinishedAttempt {
  const isSuccess = outcome === "ok";
  return {
    ...claim,
    state: isSuccess ? "delivered" : "failed",
    endReason: isSuccess ? null : "attempts-used-up",
    delaySeconds: null,
    isSuccess,
    answerWarning: null,
    backoffSeconds: backoffSeconds[outcome],
    startedAt: new Date(),
    address: null,
    status: status[outcome],
    errorClass: null,
    responseText: outcome,
    dnsMs: null,
    tcpMs: null,
    tlsMs: null,
    firstByteMs: 1,
    totalMs: 1,
  };
}
