import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import { untilFeedsAreCurrent } from "@intermission/testing/settled-feed";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDeliveryFixture } from "../../test/fixtures/delivery-fixture.ts";
import { enqueueWebhook } from "../deliveries/enqueue-webhook.ts";
import { listDeliveries, showDelivery } from "../deliveries/read-deliveries.ts";
import { migrations } from "../migrations.ts";
import { listEndOfEvents, listEvents, listLatestEvents } from "./list-events.ts";

describe("the feed of events", { timeout: 90_000 }, () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  async function follow(botId: string, after: string | undefined, limit: number) {
    const page = await listEvents(store.database, { botId, after, limit });
    if (page.outcome !== "page") throw new Error(page.outcome);
    return page;
  }

  test("a client that follows the cursor sees each of its events once, and no other's", async () => {
    const fixture = await openDeliveryFixture(store.database, {});
    const other = await openDeliveryFixture(store.database, {});
    await other.enqueue(3);
    const made = [...(await fixture.enqueue(5)), ...(await fixture.enqueue(2))];
    await untilFeedsAreCurrent(store.database);
    const seen: string[] = [];
    let after: string | undefined;
    for (let hasMore = true; hasMore; ) {
      const page = await follow(fixture.botId, after, 3);
      seen.push(...page.events.map(({ event_id }) => event_id));
      ({ next: after, hasMore } = page);
    }
    expect(seen.sort()).toEqual(made.sort());
    const end = await follow(fixture.botId, after, 3);
    expect(end).toEqual({ outcome: "page", events: [], next: after, hasMore: false });
    const latest = await listEndOfEvents(store.database, { botId: fixture.botId, latest: 4 });
    const all = (await follow(fixture.botId, undefined, 10)).events;
    expect(latest).toEqual({ outcome: "page", events: all.slice(-4), next: after, hasMore: false });
    const [later] = await fixture.enqueue(1);
    await untilFeedsAreCurrent(store.database);
    expect((await follow(fixture.botId, after, 3)).events).toMatchObject([{ event_id: later, delivery: "held" }]);
  });

  test("a cursor that was never issued is reported as bad", async () => {
    for (const after of ["", "junk!", "AAAA", "eyJhIjoxfQ"]) {
      expect(await listEvents(store.database, { botId: "1", after, limit: 3 }), after).toEqual({
        outcome: "bad-cursor",
      });
    }
  });

  test("an event that commits late, after a newer one was read, is not missed", async () => {
    const fixture = await openDeliveryFixture(store.database, {});
    const insert = statement<{ event_id: string }>(
      "test.slow-event",
      `with earned as (
        select $1::text as bot_id, $2::text as event_id, 'rewarded' as event, '1' as user_id, $2::text as code, null::text as reference,
          false as is_test, null::text as campaign_id, null::text as creative_id, null::bigint as price_micros, null::bigint as revenue_micros,
          now() as occurred_at, '{}' as body
      ), ${enqueueWebhook({ from: "earned" })} select event_id from enqueued`,
    );
    const seen: string[] = [];
    let after: string | undefined;
    const read = async () => {
      const page = await follow(fixture.botId, after, 10);
      seen.push(...page.events.map(({ event_id }) => event_id));
      after = page.next;
    };
    await store.database.transaction(async (tx) => {
      await tx.run(insert, [fixture.botId, "evt_slow"]);
      await fixture.enqueue(2);
      await read();
    });
    await untilFeedsAreCurrent(store.database);
    await read();
    expect(seen).toContain("evt_slow");
    expect(new Set(seen).size).toBe(3);
  });

  test("the operator's events are newest first, of one user or a period, page by page, and test events are marked", async () => {
    const { database } = store;
    const fixture = await openDeliveryFixture(database, {});
    const { botId } = fixture;
    const insert = statement<never>(
      "test.insert-event-at",
      `with made as (insert into events (bot_id, event_id, event, user_id, is_test, occurred_at, is_released)
         values ($1, $2, 'rewarded', $3, $4, $5, $6) returning bot_id, event_id)
       insert into deliveries (bot_id, event_id, state) select bot_id, event_id, 'held' from made`,
    );
    const at = (hour: number) => new Date(Date.UTC(2026, 2, 1, hour));
    const made: string[] = [];
    for (const [hour, userId, isTest] of [
      [1, "71", false],
      [2, "72", false],
      [3, "71", true],
      [4, "71", false],
    ] as const) {
      const eventId = newEventId(at(hour).getTime(), randomBytes(10));
      made.push(eventId);
      await database.run(insert, [botId, eventId, userId, isTest, at(hour), false]);
    }
    const [first, second, third, fourth] = made;
    const ids = async (query: Partial<Parameters<typeof listLatestEvents>[1]>) =>
      (await listLatestEvents(database, { botId, limit: 10, ...query })).map(({ event_id }) => event_id);
    expect(await ids({})).toEqual([fourth, third, second, first]);
    expect(await ids({ limit: 2 })).toEqual([fourth, third]);
    expect(await ids({ before: third })).toEqual([second, first]);
    expect(await ids({ userId: "71" })).toEqual([fourth, third, first]);
    expect(await ids({ userId: "71", before: third })).toEqual([first]);
    expect(await ids({ from: at(2), to: at(4) })).toEqual([third, second]);
    expect(await ids({ userId: "71", from: at(2), to: at(4) })).toEqual([third]);
    // A held click of the first hour that was released in the third one keeps its id.
    const clicked = newEventId(at(1).getTime() + 1, randomBytes(10));
    await database.run(insert, [botId, clicked, "73", false, at(3), true]);
    expect(await ids({ from: at(2), to: at(4) })).toEqual([third, second, clicked]);
    expect(await ids({ from: at(2), to: at(4), limit: 2 })).toEqual([third, second]);
    expect(await ids({ from: at(2), to: at(4), before: second })).toEqual([clicked]);
    expect(await ids({ from: at(2), before: clicked })).toEqual([]);
    expect(await ids({ from: at(1), to: at(4) })).toEqual([third, second, clicked, first]);
    const [latest, tested] = await listLatestEvents(database, { botId, limit: 2 });
    expect([latest?.test, tested?.test]).toEqual([undefined, true]);
  });

  test("the operator's list is newest first, and one delivery shows its bytes", async () => {
    const fixture = await openDeliveryFixture(store.database, {});
    const [first = "", second = ""] = [...(await fixture.enqueue()), ...(await fixture.enqueue())].sort();
    const list = await listDeliveries(store.database, { botId: fixture.botId, limit: 10 });
    expect(list.map(({ eventId }) => eventId)).toEqual([second, first]);
    const rest = await listDeliveries(store.database, {
      botId: fixture.botId,
      before: second,
      state: "held",
      limit: 10,
    });
    expect(rest.map(({ eventId }) => eventId)).toEqual([first]);
    expect(await showDelivery(store.database, { botId: fixture.botId, eventId: first })).toMatchObject({
      eventId: first,
      state: "held",
      log: [],
    });
    expect((await showDelivery(store.database, { botId: fixture.botId, eventId: first }))?.body).toContain(first);
    expect(await showDelivery(store.database, { botId: fixture.botId, eventId: "evt_none" })).toBeUndefined();
  });
});
