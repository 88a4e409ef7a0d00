import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";
import { steps } from "./erase-user.ts";

const ann = "730046005551";
const bob = "730046005552";

describe("erasing a user of the companion API", () => {
  let store: TestDatabase;
  let api: TestApi;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database, {
      payout: { rewarded: 10, directLink: 3, task: 5, dailyCap: 5, perCode: "once" },
    });
    for (const userId of [ann, bob]) await liveOf(userId);
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  const rewarded = (userId: string) => ({
    event: "rewarded",
    event_id: `evt_${userId.slice(-4)}`,
    user_tg_id: userId,
    code: `code${userId.slice(-4)}`,
    reference: `order-of-${userId}`,
    start_param: `of_${userId}`,
  });

  /** Inserts a row in every table. */
  async function liveOf(userId: string) {
    const text = `insert into codes (bot_id, code, user_id, reference, expires_at) values ($1, $2, $3, $4, now())`;
    const code = [api.config.botId, `issued${userId.slice(-4)}`, userId, `for-${userId}`];
    await store.database.run({ name: "test.issue", text }, code);
    expect((await api.deliver(rewarded(userId))).status).toBe(200);
    expect((await api.deliver({ event: "rewarded", user_tg_id: userId })).status).toBe(200);
    expect((await api.deliver(`{"event":"rewarded","user_tg_id":${userId}}`)).status).toBe(400);
    await api.client().rewards.spend.mutate({ userId, amount: 4, idempotencyKey: `spend-of-${userId}` });
  }

  const ask = <Row>(text: string) =>
    store.database.run(statement<Row>(`test.${text.length}.${text}`.slice(0, 60), text), []);

  async function dump(): Promise<string[]> {
    const tables = await ask<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'",
    );
    const all: string[] = [];
    for (const { name } of tables) {
      const rows = await ask<{ row: string }>(`select ${name}::text as row from ${name}`);
      all.push(...rows.map(({ row }) => `${name} ${row}`));
    }
    return all.sort();
  }

  const sums = () =>
    ask(`select (select sum(amount) from ledger_entries) as entries, (select sum(balance) from balances) as balances,
      (select count(*) from ledger_entries) as count, (select count(*) from receipts where duplicates = 0) as receipts,
      (select count(*) from balances join (
        select bot_id, user_id, sum(amount) as sum from ledger_entries group by 1, 2
      ) as entry using (bot_id, user_id) where entry.sum = balance) as reconciled`);

  test("every table that may identify a user is among the steps", async () => {
    const rows = await ask<{ table: string }>(
      `select distinct table_name as "table" from information_schema.columns
       where table_schema = current_schema() and column_name ~ '^(user_id|raw_body|reference|start_param|idempotency_key)$'`,
    );
    const handled = steps.map(({ table }) => table);
    expect(rows.map(({ table }) => table).toSorted()).toEqual([...new Set(handled)].toSorted());
  });

  test("only the backend may erase, and counting changes nothing", async () => {
    const before = await dump();
    const kept = await api.client().users.kept.query({ userId: ann });
    expect(kept).toMatchObject({ isErased: false, userId: ann });
    expect(new Set(kept.tables.map(({ table }) => table))).toEqual(new Set(steps.map(({ table }) => table)));
    const code = (promise: Promise<unknown>) =>
      promise.then(
        () => "allowed",
        ({ data }) => data?.code,
      );
    expect(await code(api.client("").users.erase.mutate({ userId: ann }))).toBe("UNAUTHORIZED");
    expect(await dump()).toEqual(before);
  });

  test("after an erasure no table of the database names the user, another user stays, and the sums are unchanged", async () => {
    const before = await sums();
    const ofBob = (await dump()).filter((row) => row.includes(bob));
    expect(await api.client().users.erase.mutate({ userId: ann })).toMatchObject({ isErased: true });
    const rows = await dump();
    expect(rows.filter((row) => row.includes(ann))).toEqual([]);
    expect(rows.filter((row) => row.includes(bob))).toEqual(ofBob);
    expect(await sums()).toEqual(before);
    expect(await api.client().rewards.balance.query({ userId: ann })).toEqual({ balance: 0 });
  });

  test("a webhook that is repeated after the erasure pays nothing and restores nothing", async () => {
    const before = await sums();
    expect((await api.deliver(rewarded(ann))).status).toBe(200);
    expect((await dump()).filter((row) => row.includes(ann))).toEqual([]);
    expect(await sums()).toEqual(before);
  });

  test("a second erasure finds nothing", async () => {
    expect(await api.client().users.erase.mutate({ userId: ann })).toMatchObject({ tables: [] });
  });

  test("the ledger is still append-only for every other change", async () => {
    for (const change of [
      "update ledger_entries set amount = 1",
      "update ledger_entries set user_id = '1'",
      "delete from ledger_entries",
    ])
      await expect(ask(change)).rejects.toThrow("append-only");
    const erasing = store.database.transaction(async (tx) => {
      await tx.run(statement("test.allow", "select set_config('intermission.erasing', 'on', true)"), []);
      await tx.run(statement("test.change", "update ledger_entries set amount = amount + 1"), []);
    });
    await expect(erasing).rejects.toThrow("append-only");
  });
});
