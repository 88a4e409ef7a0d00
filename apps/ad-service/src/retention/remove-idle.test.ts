import type { Database, Statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "../views/player-routes.ts";
import { removeIdle, startRemovingIdle } from "./remove-idle.ts";

/** The fixture's clock begins on the first of March. */
const before = new Date("2026-02-01T00:00:00Z");
const silent = { info: () => {}, error: () => {} };

let store: TestDatabase;
let fixture: ViewFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openViewFixture(store.database, viewPlayerRoutes, { cooldownSeconds: 3600, dailyCap: 10 });
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

const ask = <Row>(text: string, ...values: unknown[]) => store.database.run<Row>({ name: "", text }, values);
const usersOf = async (table: string) =>
  (await ask<{ id: string }>(`select user_id as id from ${table} order by user_id`)).map(({ id }) => id);

async function knownSince(userId: string, day: string): Promise<void> {
  await ask(
    `insert into viewers (bot_id, user_id, day, earned_today, last_earned_at) values ($1, $2, $3::date, 1, $3::timestamptz)
     on conflict (bot_id, user_id) do update set day = excluded.day, last_earned_at = excluded.last_earned_at`,
    fixture.botId,
    userId,
    day,
  );
}

/** The same database, with something that happens before the statement of this name. */
function interrupted(name: string, work: () => Promise<unknown>): Pick<Database, "run" | "transaction"> {
  const { database } = store;
  const intercept = async (statement: Statement<unknown>) => {
    if (statement.name === name) await work();
  };
  return {
    ...database,
    transaction: (inside) =>
      database.transaction((tx) =>
        inside({
          run: async (statement, values) => {
            await intercept(statement);
            return tx.run(statement, values);
          },
        }),
      ),
  };
}

/** Plays a view to its reward, after which the cooldown holds. */
async function earnsOnce(userId: string, view: Awaited<ReturnType<ViewFixture["begin"]>>): Promise<void> {
  await fixture.play(view, 0, 10);
  expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  expect((await fixture.open(userId)).body).toMatchObject({ outcome: "limit-reached" });
}

test("rows of users who came for the last time before the moment are removed, in batches, and no others", async () => {
  await ask(
    `insert into viewers (bot_id, user_id, day, earned_today, last_earned_at)
     select $1, 'many' || n, '2026-01-01', 1, '2026-01-01' from generate_series(1, 1100) as n`,
    fixture.botId,
  );
  await ask(
    `insert into current_codes (bot_id, user_id, reference, code, issued_at, expires_at) values
     ($1, 'old', '', 'a', '2026-01-01', '2026-01-02'), ($1, 'old', 'order', 'b', '2026-01-31', '2026-02-01'),
     ($1, 'recent', '', 'c', '2026-02-01', '2026-02-02')`,
    fixture.botId,
  );
  await knownSince("earned", "2026-02-01");
  const counts: number[] = [];
  let after: readonly string[] | undefined;
  do {
    const { last, removed } = await removeIdle(store.database, "viewers", { before, after });
    counts.push(removed);
    after = last;
  } while (after !== undefined);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1100);
  expect(Math.max(...counts)).toBeLessThanOrEqual(500);
  expect(await usersOf("viewers")).toEqual(["earned"]);
  // The second code of the old user expires at that moment.
  expect(await removeIdle(store.database, "codes", { before })).toEqual({ last: undefined, removed: 1 });
  expect(await usersOf("current_codes")).toEqual(["old", "recent"]);
});

test("a view that may still earn keeps the row of its viewer", async () => {
  const view = await fixture.begin("2001");
  await knownSince("2001", "2026-01-01");
  expect((await removeIdle(store.database, "viewers", { before })).removed).toBe(0);
  await earnsOnce("2001", view);
});

test("who opens an ad before the row is locked keeps it; who opens one while it is locked gets a new row; both earn once", async () => {
  for (const [userId, statement, removed] of [
    ["2101", "retention.lock-idle-viewers", 0],
    ["2102", "retention.remove-idle-viewers", 1],
  ] as const) {
    await knownSince(userId, "2026-01-01");
    let opening: ReturnType<ViewFixture["begin"]> | undefined;
    const database = interrupted(statement, async () => {
      opening = fixture.begin(userId);
      if (removed === 0) await opening;
      else await expect.poll(waiting, { timeout: 30_000 }).toBe(1);
    });
    expect((await removeIdle(database, "viewers", { before })).removed).toBe(removed);
    if (opening === undefined) throw new Error("nobody opened an ad");
    await earnsOnce(userId, await opening);
  }
});

async function waiting(): Promise<number> {
  const [row] = await ask<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
}

test("a row that another transaction changes is neither waited for nor removed", async () => {
  await knownSince("2201", "2026-01-01");
  await store.database.transaction(async (tx) => {
    await tx.run({ name: "", text: "select from viewers where user_id = '2201' for update" }, []);
    expect((await removeIdle(store.database, "viewers", { before })).removed).toBe(0);
  });
  expect((await removeIdle(store.database, "viewers", { before })).removed).toBe(1);
});

test("the loop scans both tables and stops at once", async () => {
  for (const user of ["2301", "2302"]) await knownSince(user, "2026-01-01");
  const lines: object[] = [];
  const log = { ...silent, info: (facts: object) => void lines.push(facts) };
  const now = () => new Date("2026-02-08T00:00:00Z");
  const loop = startRemovingIdle({
    database: store.database,
    idleDays: 7,
    log,
    now,
    isClockSettled: () => true,
    everyMs: 10,
    firstInMs: 0,
  });
  onTestFinished(() => loop.stop());
  await expect.poll(() => lines, { timeout: 30_000 }).toEqual([{ removed: { viewers: 2, codes: 0 } }]);
  expect(await usersOf("viewers")).not.toContain("2301");
  await loop.stop();
});
