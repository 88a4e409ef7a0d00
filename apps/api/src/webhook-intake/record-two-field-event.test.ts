import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

describe("events of two fields", () => {
  let store: TestDatabase;
  let matching: TestApi;
  let off: TestApi;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    matching = await startTestApi(store.database, { twoFieldEvents: "match" });
    off = await startTestApi(store.database);
  });
  afterAll(async () => {
    await matching.stop();
    await off.stop();
    await store.dispose();
  });

  const issue = (code: string, userId: string, expiresIn: string) =>
    store.database.run(
      {
        name: "test-issue-code",
        text: `insert into codes (bot_id, code, user_id, issued_at, expires_at)
values ($1, $2, $3, now() + $4::interval - interval '1 hour', now() + $4::interval)`,
      },
      [testConfig.botId, code, userId, expiresIn],
    );
  const entriesOf = async (userId: string) =>
    (await off.client().rewards.list.query({ userId })).entries.map(({ code, amount }) => ({ code, amount }));
  const newest = async () => (await off.client().receipts.latest.query({ limit: 1 }))[0];
  const passCooldown = async () => {
    const run = (name: string, text: string) => store.database.run({ name, text }, []);
    await run("test-unlock", "alter table ledger_entries disable trigger ledger_entries_append_only");
    await run("test-age", "update ledger_entries set recorded_at = recorded_at - interval '2 minutes'");
    await run("test-lock", "alter table ledger_entries enable trigger ledger_entries_append_only");
  };

  test("by default an event is kept as unmatched, pays nothing and is answered 200", async () => {
    await issue("open1", "1", "30 minutes");
    expect((await off.deliver({ event: "rewarded", user_tg_id: "1" })).status).toBe(200);
    expect(await entriesOf("1")).toEqual([]);
    expect(await newest()).toMatchObject({ outcome: "unmatched", reason: "no-event-id", event: "rewarded" });
  });

  test("matching records an event on the user's oldest code that has not earned it", async () => {
    await issue("newer2", "2", "50 minutes");
    await issue("older2", "2", "10 minutes");
    await matching.deliver({ event: "rewarded", user_tg_id: "2" });
    expect(await entriesOf("2")).toEqual([{ code: "older2", amount: 10 }]);
    await passCooldown();
    await matching.deliver({ event: "rewarded", user_tg_id: "2" });
    expect(await entriesOf("2")).toEqual([
      { code: "newer2", amount: 10 },
      { code: "older2", amount: 10 },
    ]);
  });

  test("an equal event within the cooldown pays nothing, even if both arrive at the same time", async () => {
    await issue("first3", "3", "10 minutes");
    await issue("second3", "3", "20 minutes");
    const copies = Array.from({ length: 8 }, () => matching.deliver({ event: "rewarded", user_tg_id: "3" }));
    expect(new Set((await Promise.all(copies)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(await entriesOf("3")).toEqual([{ code: "first3", amount: 10 }]);
    const repeats = await off.client().receipts.list.query({ userId: "3", outcome: "unmatched" });
    expect(new Set(repeats.map(({ reason }) => reason))).toEqual(new Set(["repeated-within-cooldown"]));
    // One row, or two if a minute ends in between.
    expect(repeats.reduce((sum, { duplicates }) => sum + 1 + duplicates, 0)).toBe(7);
  });

  test("the link after the view takes the same code's other event, and the code pays once", async () => {
    await issue("both4", "4", "10 minutes");
    await matching.deliver({ event: "rewarded", user_tg_id: "4" });
    await matching.deliver({ event: "direct_link", user_tg_id: "4" });
    expect(await entriesOf("4")).toEqual([
      { code: "both4", amount: 0 },
      { code: "both4", amount: 10 },
    ]);
  });

  test("an expired code counts until 72 hours and 10 minutes later", async () => {
    await issue("late5", "5", "-72 hours");
    await issue("over6", "6", "-72 hours -11 minutes");
    await matching.deliver({ event: "rewarded", user_tg_id: "5" });
    await matching.deliver({ event: "rewarded", user_tg_id: "6" });
    expect(await entriesOf("5")).toEqual([{ code: "late5", amount: 10 }]);
    expect(await entriesOf("6")).toEqual([]);
    expect(await newest()).toMatchObject({ outcome: "unmatched", reason: "no-open-code" });
  });

  test("repeats of a captured webhook do not fill the disk", async () => {
    const before = (await off.client().receipts.latest.query({ limit: 50 })).length;
    for (let index = 0; index < 10; index++) await off.deliver({ event: "direct_link", user_tg_id: "7" });
    const after = (await off.client().receipts.latest.query({ limit: 50 })).length;
    // Two if a minute ends in between.
    expect(after - before).toBeLessThanOrEqual(2);
  });

  test("with a code, though without an id, it is recorded on that code, once", async () => {
    await issue("other8", "8", "10 minutes");
    for (let index = 0; index < 3; index++) await off.deliver({ event: "rewarded", user_tg_id: "8", code: "named8" });
    expect(await entriesOf("8")).toEqual([{ code: "named8", amount: 10 }]);
  });
});
