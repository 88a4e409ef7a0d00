import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

describe("the status of a reward", () => {
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

  const deliver = (event: "rewarded" | "direct_link", userId: string, code: string, more: object = {}) =>
    api.deliver({ event, user_tg_id: userId, event_id: `evt_${event}_${code}`, code, ...more });
  const status = (query: { code?: string; userId?: string; event?: "rewarded" | "direct_link" }) =>
    api.client().rewards.status.query(query);

  test("a code without an event is not credited yet", async () => {
    expect(await status({ code: "nothing" })).toEqual({ outcome: "not-yet" });
  });

  test("a code is credited with its paid event, even if its second event was refused", async () => {
    await deliver("direct_link", "1", "codeA");
    await deliver("rewarded", "1", "codeA");
    const credited = { outcome: "credited", amount: 3, balance: 3, event: "direct_link" };
    expect(await status({ code: "codeA" })).toMatchObject(credited);
    expect(await status({ code: "codeA", event: "rewarded" })).toMatchObject({
      outcome: "refused",
      reason: "code-already-paid",
      amount: 0,
      balance: 3,
    });
  });

  test("a tester's status shows that the event was a test", async () => {
    await deliver("rewarded", "2", "codeB", { test: true });
    expect(await status({ code: "codeB" })).toMatchObject({ outcome: "refused", reason: "test", balance: 0 });
  });

  test("without a code the status is that of the user's newest event, and another user's code returns nothing", async () => {
    await deliver("rewarded", "3", "codeC");
    await deliver("direct_link", "3", "codeD");
    expect(await status({ userId: "3" })).toMatchObject({ outcome: "credited", event: "direct_link", balance: 13 });
    expect(await status({ userId: "1", code: "codeC" })).toEqual({ outcome: "not-yet" });
  });

  test("a query without a code and a user is refused", async () => {
    await expect(status({})).rejects.toThrow("name a code or a userId");
  });
});
