import type { ListedEvent } from "@intermission/ad-core/client-api";
import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ListedEvents } from "../ad-service-client.ts";
import { migrations } from "../migrations.ts";
import { startTestApi, type TestApi, testConfig } from "../test-api.ts";
import { reconcileEvents } from "./reconcile-events.ts";

const minute = 60_000;

describe.each(testDatabases())("reconciliation on %s", (kind) => {
  let store: TestDatabase<unknown>;
  let api: TestApi;
  let startedAt: Date;
  const feed: ListedEvent[] = [];
  const asked: (string | null)[] = [];
  /** The ad service's list, two events a page. */
  const adService = {
    async listEvents(after: string | null): Promise<ListedEvents> {
      asked.push(after);
      const from = Number(after ?? 0);
      const events = feed.slice(from, from + 2);
      const next = from + events.length;
      return { outcome: "listed", page: { events, next: String(next), has_more: next < feed.length } };
    },
  };
  const reconcile = (minutesLater: number) =>
    reconcileEvents(
      {
        database: store.database,
        adService,
        botId: testConfig.botId,
        payout: testConfig.payout,
        settleAfterSeconds: 30,
      },
      new Date(startedAt.getTime() + minutesLater * minute),
    );
  const earn = (eventId: string, minutesLater: number, changes: Partial<ListedEvent> = {}) =>
    feed.push({
      ...{ event_id: eventId, event: "rewarded", bot_id: testConfig.botId, user_tg_id: "42", code: `code${eventId}` },
      ...{ occurred_at: new Date(startedAt.getTime() + minutesLater * minute).toISOString(), delivery: "failed" },
      ...changes,
    });
  const booked = async () =>
    (await api.client().rewards.list.query({ limit: 100 })).entries
      .map(({ eventId, reason, amount }) => `${eventId} ${reason ?? amount}`)
      .reverse();

  beforeAll(async () => {
    store = await openTestDatabase({ kind, schema: "api", migrations });
    api = await startTestApi(store.database);
    startedAt = new Date(Date.now() + minute);
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  test("what another receiver may have paid before the first start is not booked", async () => {
    earn("evt_old", -100_000);
    earn("evt_older", -200_000);
    expect(await reconcile(0)).toEqual({ outcome: "done", booked: 0 });
    expect(await booked()).toEqual([]);
  });

  test("an event whose webhook never came is booked, and one that came is not booked again", async () => {
    await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: "evt_came", code: "codeevt_came" });
    earn("evt_came", 1);
    earn("evt_lost", 1);
    earn("evt_test", 1, { test: true });
    expect(await reconcile(5)).toEqual({ outcome: "done", booked: 2 });
    expect(await booked()).toEqual(["evt_came 10", "evt_lost 10", "evt_test test"]);
  });

  test("it goes on from where it stopped, and its webhook may still arrive", async () => {
    asked.length = 0;
    earn("evt_next", 6);
    await reconcile(10);
    expect(asked[0]).toBe("5");
    await api.deliver({ event: "rewarded", user_tg_id: "42", event_id: "evt_next", code: "codeevt_next" });
    expect((await booked()).filter((line) => line.startsWith("evt_next"))).toEqual(["evt_next 10"]);
  });

  test("a young event is left to its webhook, and taken the next time", async () => {
    earn("evt_young", 20);
    earn("evt_foreign", 20, { bot_id: "7000000002" });
    expect(await reconcile(20)).toEqual({ outcome: "done", booked: 0 });
    expect(await reconcile(21)).toEqual({ outcome: "done", booked: 1 });
    expect(await booked()).not.toContain("evt_foreign 10");
  });

  test("a service without the endpoint is told from one that is down", async () => {
    const answering = (answer: ListedEvents) =>
      reconcileEvents(
        {
          ...{ database: store.database, botId: testConfig.botId, payout: testConfig.payout, settleAfterSeconds: 30 },
          adService: { listEvents: async () => answer },
        },
        startedAt,
      );
    expect(await answering({ outcome: "not-offered" })).toEqual({ outcome: "not-offered" });
    expect(await answering({ outcome: "unavailable", detail: "x" })).toMatchObject({ outcome: "unavailable" });
  });
});
