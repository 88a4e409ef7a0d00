import { openTestDatabase, type TestDatabase } from "@intermission/postgres/test-database";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdDatabase, AdTables } from "../ad-database.ts";
import { migrations } from "../migrations.ts";
import { sessionRoutes } from "./routes.ts";
import { type Opened, openSessionStage, type SessionStage } from "./session-stage.ts";

describe("what a view asks of the database", () => {
  let store: TestDatabase<AdTables>;
  let stage: SessionStage;
  /** The names of the statements that the driver was given since they were emptied. */
  let statements: string[] = [];

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind: "server", schema: "ad_service", migrations });
    const { database } = store;
    const counted: AdDatabase = {
      ...database,
      run(statement, values) {
        statements.push(statement.name);
        expect(statement.text).not.toContain("advisory");
        return database.run(statement, values);
      },
      transaction(work) {
        statements.push("a transaction");
        return database.transaction(work);
      },
    };
    stage = await openSessionStage(counted, sessionRoutes, { cooldownSeconds: 0, dailyCap: 10_000 });
    // What is kept in memory, the bot and the ad, is read at the first opening.
    await stage.begin("1", await stage.issue("1"));
  });
  afterAll(async () => {
    await stage.close();
    await store.dispose();
  });

  const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    statements = [];
    await work();
    return statements.filter((name) => !/^bots\.|^ad-sessions\.ad$/.test(name));
  };
  const fiveSeconds = (number: number) => ({
    sequence: number,
    ...{ from_ms: number * 5000, to_ms: (number + 1) * 5000, visible: true, muted: true, rendered_frames: 120 },
  });
  const report = (session: Opened, number: number) =>
    stage.report(session, { reports: [{ ...fiveSeconds(number), sequence: session.first_sequence + number }] });

  test("an opening is two statements, with a code and without one; a start, a report and a close are one each", async () => {
    const code = await stage.issue("2");
    let session: Opened | undefined;
    const opening = await statementsOf(async () => {
      session = await stage.begin("2", code);
    });
    expect(opening).toEqual(["ad-sessions.read-opening", "ad-sessions.begin"]);
    if (!session) throw new Error("no session");
    const view = session;
    expect(await statementsOf(() => stage.begin("3"))).toEqual(["ad-sessions.read-opening", "ad-sessions.begin"]);

    expect(await statementsOf(() => stage.report(view, { started: true }))).toEqual(["ad-sessions.record"]);
    stage.advance(5);
    expect(await statementsOf(() => report(view, 0))).toEqual(["ad-sessions.record-progress"]);
    stage.advance(5);
    expect(await statementsOf(() => report(view, 1))).toEqual(["ad-sessions.record"]);
    const close = await statementsOf(() => stage.report(view, { closed: "tap" }));
    expect(close).toEqual(["ad-sessions.record"]);
    expect(await stage.sessions()).toEqual(
      expect.arrayContaining([expect.objectContaining({ session_id: view.session_id, state: "rewarded" })]),
    );
  });

  test("opened again, a view is read once and changed once", async () => {
    const code = await stage.issue("4");
    const first = await stage.begin("4", code);
    await stage.report(first, { started: true });
    expect(await statementsOf(() => stage.begin("4", code))).toEqual([
      "ad-sessions.read-opening",
      "ad-sessions.record",
    ]);
  });

  test("a report on another node reads the view once, and from then on no more", async () => {
    const view = await stage.begin("5", await stage.issue("5"));
    await stage.report(view, { started: true });
    const other = await stage.startNode();
    stage.advance(3);
    const reports = (from: number) => ({
      reports: [{ sequence: from, from_ms: from * 1000, to_ms: from * 1000 + 1000, visible: true, muted: true }],
    });
    expect(await statementsOf(() => stage.report(view, reports(0), other))).toEqual([
      "ad-sessions.read",
      "ad-sessions.record-progress",
    ]);
    expect(await statementsOf(() => stage.report(view, reports(1), other))).toEqual(["ad-sessions.record-progress"]);
    // The first node has an older version of it: it reads again.
    expect(await statementsOf(() => stage.report(view, reports(2)))).toEqual([
      "ad-sessions.record-progress",
      "ad-sessions.read",
      "ad-sessions.record-progress",
    ]);
  });

  test("nine of ten updates of views and viewers stay in their page (HOT)", async () => {
    const users = Array.from({ length: 40 }, (_, index) => `7${index}`);
    const before = await updatesOfViews();
    const views: Opened[] = [];
    for (const user of users) views.push(await stage.begin(user, await stage.issue(user)));
    await Promise.all(views.map((view) => stage.report(view, { started: true })));
    for (const number of [0, 1]) {
      stage.advance(5);
      await Promise.all(views.map((view) => report(view, number)));
    }
    await Promise.all(views.map((view) => stage.report(view, { closed: "tap" })));
    await expect
      .poll(async () => (await updatesOfViews()).all - before.all, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(users.length * 5);
    const after = await updatesOfViews();
    expect((after.hot - before.hot) / (after.all - before.all)).toBeGreaterThanOrEqual(0.9);
  });

  /** As each session tells them when it has nothing to do, a second later at the latest. */
  async function updatesOfViews(): Promise<{ all: number; hot: number }> {
    const { rows } = await sql<{ all: number; hot: number }>`
      select coalesce(sum(n_tup_upd), 0)::integer as all, coalesce(sum(n_tup_hot_upd), 0)::integer as hot
      from pg_stat_user_tables where schemaname = 'ad_service' and relname in ('ad_sessions', 'viewers')`.execute(
      store.database.query,
    );
    return rows[0] ?? { all: 0, hot: 0 };
  }
});
