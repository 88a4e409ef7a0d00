import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

describe("spending", () => {
  let store: TestDatabase;
  let api: TestApi;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database);
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  /** A user who has 10 units. */
  const earner = async (userId: string) => {
    await api.deliver({ event: "rewarded", user_tg_id: userId, event_id: `evt_${userId}` });
    const { rewards } = api.client();
    return {
      spend: (amount: number, idempotencyKey: string) => rewards.spend.mutate({ userId, amount, idempotencyKey }),
      balance: async () => (await rewards.balance.query({ userId })).balance,
      entries: async () => (await rewards.list.query({ userId })).entries,
    };
  };

  test("parallel orders never take a balance below zero", async () => {
    const user = await earner("1");
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, index) => user.spend(3, `order-${index}`)));
    expect(outcomes.filter(({ outcome }) => outcome === "spent")).toHaveLength(3);
    expect(outcomes.filter(({ outcome }) => outcome === "insufficient")).toHaveLength(27);
    expect(await user.balance()).toBe(1);
    expect((await user.entries()).reduce((sum, { amount }) => sum + amount, 0)).toBe(1);
  });

  test("parallel repeats of one key take units once and get the same answer", async () => {
    const user = await earner("2");
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => user.spend(4, "same")));
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ outcome: "spent", balance: 6 });
    expect(await user.balance()).toBe(6);
  });

  test("while rewards arrive and units are spent concurrently, the balance equals the sum of the entries", async () => {
    const user = await earner("8");
    const deliveries = Array.from({ length: 20 }, (_, index) =>
      api.deliver({ event: "rewarded", user_tg_id: "8", event_id: `evt_8_${index}` }),
    );
    await Promise.all([...deliveries, ...Array.from({ length: 20 }, (_, index) => user.spend(7, `mixed-${index}`))]);
    const { entries } = await api.client().rewards.list.query({ userId: "8", limit: 100 });
    expect(entries.filter(({ event }) => event === "rewarded")).toHaveLength(21);
    expect(await user.balance()).toBe(entries.reduce((sum, { amount }) => sum + amount, 0));
    expect(entries.every(({ balance }) => balance !== null && balance >= 0)).toBe(true);
  });

  test("a key that is reused for another amount is a conflict; another user's equal key is not", async () => {
    const user = await earner("3");
    const neighbour = await earner("4");
    await user.spend(4, "order");
    expect(await user.spend(5, "order")).toEqual({ outcome: "conflict" });
    expect(await neighbour.spend(5, "order")).toMatchObject({ outcome: "spent", balance: 5 });
    expect(await user.balance()).toBe(6);
  });

  test("a spend that was refused for lack of units may be repeated with its key", async () => {
    const user = await earner("5");
    expect(await user.spend(15, "big")).toEqual({ outcome: "insufficient", balance: 10 });
    await api.deliver({ event: "rewarded", user_tg_id: "5", event_id: "evt_5b" });
    expect(await user.spend(15, "big")).toMatchObject({ outcome: "spent", balance: 5 });
  });

  test("a spend is listed beside the events that earned it, newest first", async () => {
    const user = await earner("6");
    await api
      .client()
      .rewards.spend.mutate({ userId: "6", amount: 4, idempotencyKey: "k", note: "a golden watering can" });
    expect(await user.entries()).toMatchObject([
      { event: null, eventId: null, amount: -4, balance: 6, reason: "a golden watering can" },
      { event: "rewarded", eventId: "evt_6", amount: 10, balance: 10, reason: null },
    ]);
  });

  test("the list continues from its cursor without a gap or a repeat", async () => {
    for (let index = 0; index < 7; index++) {
      await api.deliver({ event: "rewarded", user_tg_id: "7", event_id: `evt_7_${index}` });
    }
    const seen: (string | null)[] = [];
    let cursor: string | undefined;
    do {
      const page = await api.client().rewards.list.query({ userId: "7", limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...page.entries.map(({ eventId }) => eventId));
      cursor = page.next ?? undefined;
    } while (cursor);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `evt_7_${index}`));
  });

  test.each(["\ud800", "a\0"])("a key that PostgreSQL would store as another text is refused: %j", async (key) => {
    const user = await earner("9");
    await expect(user.spend(1, key)).rejects.toThrow("well-formed");
  });

  test.each([0, -1, 1.5, 2 ** 53, "3"])("an amount of %s is refused", async (amount) => {
    const order = JSON.stringify({ userId: "1", amount, idempotencyKey: "odd" });
    const headers = { authorization: `Bearer ${api.config.backendApiKey}`, "content-type": "application/json" };
    const response = await fetch(`${api.url}/trpc/rewards.spend`, { method: "POST", headers, body: order });
    expect(response.status).toBe(400);
  });
});
