import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { migrations } from "../migrations.ts";
import { listEndpoints } from "./endpoints.ts";

const webhookUrl = "https://hook.test/ads";

describe("the list of endpoints", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  const listed = async (botId: string) => (await listEndpoints(store.database, { bots: [botId], limit: 1 })).rows[0];
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

  test("a new endpoint has no failures and nothing queued", async () => {
    const fixture = await openDeliveryFixture(store.database, { webhookUrl, name: "Coin Garden" });
    expect(await listed(fixture.botId)).toMatchObject({
      botId: fixture.botId,
      name: "Coin Garden",
      url: webhookUrl,
      state: "active",
      disabledReason: null,
      breaker: "closed",
      probeAt: null,
      backoffUntil: null,
      inFlight: 0,
      maxInFlight: 4,
      waiting: 0,
      held: 0,
      oldestDueAt: null,
      lastSuccessAt: null,
      lastFailureAt: null,
      lastStatus: null,
      lastErrorClass: null,
      lastAnswer: null,
      disablePercent: 0,
      warnedPercent: 0,
      testDueAt: null,
    });
  });

  test("a bot without an address is listed too: its events are held", async () => {
    const fixture = await openDeliveryFixture(store.database, {});
    await fixture.enqueue(2);
    expect(await listed(fixture.botId)).toMatchObject({
      url: null,
      state: null,
      held: 2,
      waiting: 0,
      disablePercent: 0,
    });
  });

  test.each([false, true])("queues are counted, and the oldest due time is shown, in bulk: %s", async (isBulk) => {
    const fixture = await openDeliveryFixture(store.database, { webhookUrl });
    const [, oldest = ""] = await fixture.enqueue(3);
    await store.database.run(
      statement(
        "test.due-long-ago",
        "update deliveries set due_at = '2026-01-01T00:00:00Z', is_bulk = $2 where event_id = $1",
      ),
      [oldest, isBulk],
    );
    expect(await listed(fixture.botId)).toMatchObject({ waiting: 3, oldestDueAt: new Date("2026-01-01T00:00:00Z") });
  });

  test("a backoff that is over and a probe of a closed breaker are not shown", async () => {
    const fixture = await openDeliveryFixture(store.database, { webhookUrl });
    await fixture.setEndpoint({ backoff_until: ago(1), probe_at: ago(-60) });
    expect(await listed(fixture.botId)).toMatchObject({ backoffUntil: null, probeAt: null });
    await fixture.setEndpoint({ backoff_until: ago(-60), breaker: "open" });
    expect(await listed(fixture.botId)).toMatchObject({ backoffUntil: expect.any(Date), probeAt: expect.any(Date) });
  });

  // Five days, 20 failures, 12 hours: the minimum of the three counts.
  test.each([
    [{ success: 2.5 * 86_400, failures: 20, spread: 12 * 3600 }, 50],
    [{ success: 5 * 86_400, failures: 14, spread: 12 * 3600 }, 70],
    [{ success: 5 * 86_400, failures: 40, spread: 0.9 * 12 * 3600 }, 90],
    [{ success: 9 * 86_400, failures: 40, spread: 24 * 3600 }, 100],
    [{ success: 9 * 86_400, failures: 0, spread: 24 * 3600 }, 0],
  ])("progress towards being disabled: %j is %i percent", async ({ success, failures, spread }, percent) => {
    const fixture = await openDeliveryFixture(store.database, { webhookUrl });
    await fixture.setEndpoint({ state_since: ago(30 * 86_400), last_success_at: ago(success + 60) });
    await fixture.setEndpoint({ failures_since_success: failures, failing_since: ago(spread + 60) });
    expect((await listed(fixture.botId))?.disablePercent).toBe(percent);
  });

  test("all are listed once, ordered by bot id", async () => {
    const made = [
      await openDeliveryFixture(store.database, { webhookUrl }),
      await openDeliveryFixture(store.database, {}),
    ];
    const all = (await listEndpoints(store.database, { limit: 1000 })).rows.map(({ botId }) => botId);
    expect(all).toEqual([...new Set(all)].sort());
    expect(all).toEqual(expect.arrayContaining(made.map(({ botId }) => botId)));
  });
});
