import type { ProgressReport, ReportRequest } from "@intermission/ad-core/player-api";
import type { Database } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type Opened, openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

describe("the database statements of a view", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;
  /** The names of the statements that the driver received since the list was last cleared. */
  let statements: string[] = [];

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    const { database } = store;
    const counted: Database = {
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
    fixture = await openViewFixture(counted, viewPlayerRoutes, { cooldownSeconds: 0, dailyCap: 10_000 });
    // The bot and the ad are cached at the first opening.
    await fixture.begin("1", await fixture.issue("1"));
  });
  afterAll(async () => {
    await fixture.close();
    await store.dispose();
  });

  const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
    statements = [];
    await work();
    return statements.filter((name) => !/^bots\.|^views\.ad$/.test(name));
  };
  const fiveSeconds = (number: number) => ({
    sequence: number,
    from_ms: number * 5000,
    to_ms: (number + 1) * 5000,
    visible: true,
    muted: true,
    rendered_frames: 120,
  });
  const report = (view: Opened, number: number) =>
    fixture.report(view, { reports: [{ ...fiveSeconds(number), sequence: view.first_sequence + number }] });

  test("an opening, a start and a close read once and write once; a report takes one statement", async () => {
    const code = await fixture.issue("2");
    let opened: Opened | undefined;
    const opening = await statementsOf(async () => {
      opened = await fixture.begin("2", code);
    });
    expect(opening).toEqual(["views.read-opening", "views.begin"]);
    if (!opened) throw new Error("no view began");
    const view = opened;
    expect(await statementsOf(() => fixture.begin("3"))).toEqual(["views.read-opening", "views.begin"]);

    const settled = ["views.read-viewers", "views.record"];
    expect(await statementsOf(() => fixture.report(view, { started: true }))).toEqual(settled);
    fixture.advance(5);
    expect(await statementsOf(() => report(view, 0))).toEqual(["views.record-progress"]);
    fixture.advance(5);
    expect(await statementsOf(() => report(view, 1))).toEqual(["views.record-progress"]);
    expect(await statementsOf(() => fixture.report(view, {}))).toEqual(["views.record-progress"]);
    const due = await store.database.run({ name: "", text: "select view_id from views_due" }, []);
    expect(due).toEqual([{ view_id: view.session_id }]);
    const close = await statementsOf(() => fixture.report(view, { closed: "tap" }));
    expect(close).toEqual(settled);
    expect(await fixture.storedViews()).toEqual(
      expect.arrayContaining([expect.objectContaining({ view_id: view.session_id, state: "rewarded" })]),
    );
  });

  test("while the video plays on, a report between two quartiles takes none, and stays with the player", async () => {
    const view = await fixture.begin("6", await fixture.issue("6"));
    await fixture.report(view, { started: true, playing: true });
    const range = (number: number, visible = true) => ({
      sequence: view.first_sequence + number,
      from_ms: number * 1200,
      to_ms: (number + 1) * 1200,
      visible,
      muted: true,
    });
    const call = async (reports: ProgressReport[], fields: Partial<ReportRequest> = { playing: true }) => {
      fixture.advance(1.2);
      let answer: Answer | undefined;
      const made = await statementsOf(async () => {
        answer = await fixture.report(view, { reports, ...fields });
      });
      const { accepted_ms: accepted, acknowledged, state } = answer?.body ?? {};
      return { made, accepted, acknowledged, state };
    };
    const stored = ["views.record-progress"];
    expect(await call([range(0)])).toEqual({ made: [], accepted: 1200, acknowledged: [], state: "playing" });
    expect(await call([range(0), range(1)])).toMatchObject({ made: [], accepted: 2400, acknowledged: [] });
    // A quartile, a pause, a refused range, ten seconds, the end: each stores everything.
    const atQuartile = await call([range(0), range(1), range(2)]);
    expect(atQuartile).toMatchObject({ made: stored, accepted: 3600, acknowledged: [0, 1, 2] });
    expect(await call([range(3)], {})).toMatchObject({ made: stored, accepted: 4800, acknowledged: [3] });
    expect(await call([range(4, false)])).toMatchObject({ made: stored, acknowledged: [4] });
    const short = { ...range(5), from_ms: 4800, to_ms: 4900 };
    expect(await call([short])).toMatchObject({ made: [], accepted: 4900, acknowledged: [] });
    fixture.advance(8.8);
    expect(await call([short])).toMatchObject({ made: stored, accepted: 4900, acknowledged: [5] });
    expect(await call([{ ...range(6), from_ms: 4900, to_ms: 10_000 }])).toMatchObject({
      made: stored,
      acknowledged: [6],
      state: "watched",
    });
  });

  test("opening a view again reads it once and changes it once", async () => {
    const code = await fixture.issue("4");
    const first = await fixture.begin("4", code);
    await fixture.report(first, { started: true });
    expect(await statementsOf(() => fixture.begin("4", code))).toEqual(["views.read-opening", "views.record"]);
  });

  test("the first report on another node reads the view once, later reports there do not", async () => {
    const view = await fixture.begin("5", await fixture.issue("5"));
    await fixture.report(view, { started: true });
    const other = await fixture.startNode();
    fixture.advance(3);
    const reports = (from: number) => ({
      reports: [{ sequence: from, from_ms: from * 1000, to_ms: from * 1000 + 1000, visible: true, muted: true }],
    });
    expect(await statementsOf(() => fixture.report(view, reports(0), other))).toEqual([
      "views.read",
      "views.record-progress",
    ]);
    expect(await statementsOf(() => fixture.report(view, reports(1), other))).toEqual(["views.record-progress"]);
    // The first node remembers an older version of the view, so it reads again.
    expect(await statementsOf(() => fixture.report(view, reports(2)))).toEqual([
      "views.record-progress",
      "views.read",
      "views.record-progress",
    ]);
  });

  // How many updates are HOT depends on concurrent readers of the tables: `pnpm bench` measures it.
  test("no index contains a column that reports change, so that updates can stay in their page (HOT)", async () => {
    const text = `
      select relation.relname as table, array_agg(distinct attname::text order by attname::text) as columns
      from pg_index
      join pg_class as relation on relation.oid = indrelid
      join pg_attribute on attrelid = indrelid and attnum > 0 and (attnum = any (indkey::smallint[]) or exists (
        -- Columns of the index condition.
        select from pg_depend where pg_depend.classid = 'pg_class'::regclass and objid = indexrelid
          and refobjid = indrelid and refobjsubid = attnum
      ))
      where relation.relname in ('views', 'viewers') and relation.relnamespace = 'ad_service'::regnamespace
      group by 1 order by 1`;
    expect(await store.database.run({ name: "", text }, [])).toEqual([
      { table: "viewers", columns: ["bot_id", "user_id"] },
      // Suspicions are set once, and for few views.
      {
        table: "views",
        columns: ["bot_id", "campaign_id", "code", "is_test", "opened_at", "suspicions", "user_id", "view_id"],
      },
    ]);
  });
});
