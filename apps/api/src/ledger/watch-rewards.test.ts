import type { Database } from "@intermission/postgres/open-database";
import type { RewardEntry } from "@intermission/publisher/companion";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestApi, testConfig } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";
import { recordBatch, recordEvents } from "../webhook-intake/record-events.ts";
import { latestCursor, startOfLedger, watchRewards } from "./watch-rewards.ts";

const { botId, payout } = testConfig;

async function record(runner: Pick<Database, "run">, ...eventIds: string[]): Promise<void> {
  for (const eventId of eventIds) {
    const line = {
      eventId,
      event: "rewarded",
      userId: "42",
      code: `code${eventId}`,
      reference: null,
      startParam: null,
      revenue: null,
    } as const;
    const rest = { occurredAt: null, isTest: false, rawBody: null, signatureHeader: null };
    await recordBatch(runner, botId, payout, [{ line: { ...line, ...rest }, repeats: 0 }]);
  }
}

describe("watching the ledger", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
  });
  afterAll(() => store.dispose());

  /** Follows the ledger, and every few entries drops the connection and resumes from the last cursor. */
  async function follow(from: string, count: number, { includeTests = false } = {}): Promise<(string | null)[]> {
    const seen: (string | null)[] = [];
    let cursor = from;
    while (seen.length < count) {
      const line = new AbortController();
      for await (const watched of watchRewards(
        store.database,
        botId,
        { from: cursor, includeTests },
        line.signal,
        pause,
      )) {
        cursor = watched.cursor;
        seen.push(watched.entry.eventId);
        if (seen.length % 7 === 0 || seen.length >= count) line.abort();
      }
    }
    return seen;
  }
  const pause = () => new Promise<boolean>((resolve) => setTimeout(resolve, 5, false));

  test("each entry is delivered once, despite parallel commits and broken connections", async () => {
    const from = await latestCursor(store.database);
    const ids = Array.from({ length: 120 }, (_, index) => `evt_p${index}`);
    const following = follow(from, ids.length);
    await Promise.all(ids.map((id) => record(store.database, id)));
    const seen = await following;
    expect(seen).toHaveLength(ids.length);
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  test("test events are delivered only on request, and a cursor is valid with and without them", async () => {
    const from = await latestCursor(store.database);
    const api = await startTestApi(store.database);
    const send = async (eventId: string, more: object) => {
      const event = { event: "rewarded", user_tg_id: "77", event_id: eventId, code: `code${eventId}`, ...more };
      expect((await api.deliver(event)).status).toBe(200);
    };
    try {
      await send("evt_tester", { test: true });
      await send("evt_real", {});
      await send("evt_nobody", { user_tg_id: "0", test: true });
      await send("evt_zero", { user_tg_id: "0" });
      expect(await api.client().rewards.balance.query({ userId: "77" })).toEqual({ balance: 10 });
      const spend = { userId: "77", amount: 4, idempotencyKey: "an order", note: "test" };
      expect(await api.client().rewards.spend.mutate(spend)).toMatchObject({ outcome: "spent", balance: 6 });
      await send("evt_last", {});
      expect(await follow(from, 3)).toEqual(["evt_real", null, "evt_last"]);
      const all = ["evt_tester", "evt_real", "evt_nobody", "evt_zero", null, "evt_last"];
      expect(await follow(from, 6, { includeTests: true })).toEqual(all);

      const seen: (string | null)[] = [];
      const watch = api.watch(from, (entry) => seen.push(entry.eventId), undefined, { includeTests: true });
      await vi.waitFor(() => expect(seen).toEqual(all));
      watch.stop();
      const real: (string | null)[] = [];
      const usual = api.watch(from, (entry) => real.push(entry.eventId));
      await vi.waitFor(() => expect(real).toEqual(["evt_real", null, "evt_last"]));
      usual.stop();
    } finally {
      await api.stop();
    }
  });

  test("more test events than a page holds do not hide the entries after them", { tags: "long" }, async () => {
    const from = await latestCursor(store.database);
    await recordEvents(
      store.database,
      botId,
      payout,
      Array.from({ length: 450 }, (_, index) => ({
        eventId: `evt_t${index}`,
        event: "rewarded",
        userId: "0",
        code: null,
        reference: null,
        startParam: null,
        revenue: null,
        occurredAt: null,
        isTest: true,
        rawBody: null,
        signatureHeader: null,
      })),
    );
    await record(store.database, "evt_behind");
    expect(await follow(from, 1)).toEqual(["evt_behind"]);
  });

  test("an entry that commits late is not skipped in favour of a later one", async () => {
    const from = await latestCursor(store.database);
    let commit = () => {};
    const mayCommit = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const isWritten = Promise.withResolvers<void>();
    const slow = store.database.transaction(async (tx) => {
      await tx.run({ name: "late-entry", text: lateEntry }, [botId]);
      isWritten.resolve();
      await mayCommit;
    });
    await isWritten.promise;
    await record(store.database, "evt_fast");
    const following = follow(from, 2);
    await new Promise((resolve) => setTimeout(resolve, 100));
    commit();
    await slow;
    expect(await following).toEqual(["evt_late", "evt_fast"]);
  });

  test("a bot backend's subscription survives a restart of the API without a gap or a repeat", {
    tags: "long",
  }, async () => {
    const first = await startTestApi(store.database);
    const from = (await first.client().rewards.cursor.query()).cursor;
    const seen: RewardEntry[] = [];
    const subscription = first.watch(from, (entry) => seen.push(entry));

    expect((await first.deliver({ event: "rewarded", user_tg_id: "9", event_id: "evt_before" })).status).toBe(200);
    await vi.waitFor(() => expect(seen.map(({ eventId }) => eventId)).toEqual(["evt_before"]));
    await first.stop();
    await record(store.database, "evt_between");
    const second = await startTestApi(store.database, { port: Number(new URL(first.url).port) });
    await second.deliver({ event: "rewarded", user_tg_id: "9", event_id: "evt_after" });

    const expected = ["evt_before", "evt_between", "evt_after"];
    await vi.waitFor(() => expect(seen.map(({ eventId }) => eventId)).toEqual(expected));
    expect(seen[0]).toMatchObject({ userId: "9", event: "rewarded", amount: 10, balance: 10, reason: null });
    subscription.stop();
    await second.stop();
  });

  test("a watch is refused to users, to unknown callers and with an invalid cursor", async () => {
    const api = await startTestApi(store.database);
    const ask = async (authorization: string, lastEventId: string) => {
      const input = encodeURIComponent(JSON.stringify({ lastEventId }));
      const response = await fetch(`${api.url}/trpc/rewards.watch?input=${input}`, {
        headers: { authorization, accept: "text/event-stream" },
        signal: AbortSignal.timeout(20_000),
      });
      return response.status === 200 ? (await response.text()).match(/"code":"(\w+)"/)?.[1] : String(response.status);
    };
    expect(await ask("Bearer nobody", startOfLedger)).toMatch(/401|UNAUTHORIZED/);
    expect(await ask(`Bearer ${api.config.backendApiKey}`, "no cursor")).toMatch(/400|BAD_REQUEST/);
    await api.stop();
  });
});

const lateEntry = `insert into ledger_entries (bot_id, user_id, event, event_id, amount)
values ($1, '43', 'rewarded', 'evt_late', 1)`;
