import { randomBytes } from "node:crypto";
import { CODE_RANDOM_BYTES, codeWeekAt, newCode } from "@intermission/ad-core/code";
import type { OpenedDatabase, Transaction } from "@intermission/postgres/open-database";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertBotsAndCampaigns } from "../../test/fixtures/facts-fixture.ts";
import { openPartitionedStore } from "../../test/fixtures/partitioned-store.ts";
import { partitionsRead, textOfStatement } from "../../test/fixtures/partitions-read.ts";
import { newViewId } from "./view-ids.ts";
import "../users/find-timelines.ts";
import { type AdView, readView } from "./ad-view.ts";
import { beginViews, type NewView } from "./begin-views.ts";
import "./count-ad-click.ts";
import { readOpenings } from "./read-opening.ts";
import "./record-fault.ts";
import "../reviews/review-views.ts";
import { storeChanges, storeProgress } from "./store-changes.ts";
import "./sweep-views.ts";
import type { ViewChange } from "./view-change.ts";

/** A Thursday: its week began on the 8th. */
const now = new Date("2026-06-11T12:00:00Z");
const lastWeek = new Date("2026-06-04T12:00:00Z");
const botId = "7000000001";
const userId = "501";
const codeAt = (moment: Date) => newCode("abcd", randomBytes(CODE_RANDOM_BYTES), moment);
const idOf = (code: string) => ({ botId, viewId: newViewId({ botId, code }) });

let store: OpenedDatabase;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ store, close } = await openPartitionedStore(new Date("2026-05-01T12:00:00Z"), now));
  await insertBotsAndCampaigns(store);
  await ask(`insert into bots (bot_id, name, code_prefix) values ('${botId}', 'Weeks', 'abcd')`);
});
afterAll(() => close());

const ask = <Row>(text: string, ...values: unknown[]) => store.run<Row>({ name: "", text }, values);

/** Runs calls in a transaction that is rolled back. Returns which partitions of the views each statement read. */
async function watch(calls: (database: Transaction) => Promise<unknown>): Promise<Record<string, string[]>> {
  const read: Record<string, string[]> = {};
  await store
    .transaction(async (tx) => {
      const savepoint = (text: string) => tx.run({ name: "", text }, []);
      const run: Transaction["run"] = async (statement, values) => {
        await savepoint("savepoint tried");
        const partitions = await partitionsRead(tx, statement.text, values);
        await savepoint("rollback to savepoint tried");
        read[statement.name] = partitions.filter((name) => name.startsWith("views_2"));
        return tx.run(statement, values);
      };
      await calls({ ...tx, run });
      throw new Error("undone");
    })
    .catch((error: unknown) => expect(error).toMatchObject({ message: "undone" }));
  return read;
}

function newView(code: string, at: Date, decisions: number | null, clockHolder?: AdView): NewView {
  const viewer = {
    decisions,
    creditedUntil: null,
    clockHolderId: clockHolder?.viewId ?? null,
    clockHolderVersion: clockHolder?.version ?? null,
    viewerCreditedUntil: null,
  };
  return {
    code: { botId, code, userId, reference: "", expiresAt: new Date(at.getTime() + 3_600_000) },
    viewId: newViewId({ botId, code }),
    campaignId: "cmp_a",
    creativeId: "cre_a",
    durationMs: 10_000,
    startParam: null,
    clientNote: null,
    initData: undefined,
    tokenHash: "",
    vastAd: undefined,
    terms: { format: "rewarded", skipAfterMs: null, chargedAfterMs: null },
    priceMicros: null,
    isTest: false,
    audience: "",
    failedCreatives: [],
    broken: undefined,
    viewer,
    now: at,
  };
}

/** As the opening and the first reports of a view change it. */
const changeOf = (before: AdView, change: Partial<AdView>, isStart: boolean): ViewChange => ({
  before,
  after: { ...before, ...change },
  isStart,
  milestones: [],
  now,
});

test("a view that begins, starts, goes on and is due reads the weeks of its code and of the view before it", async () => {
  const [earlier, code] = [codeAt(lastWeek), codeAt(now)];
  const weeks = ["views_20260601", "views_20260608"];
  const own = ["views_20260608"];
  const start = { state: "playing", startedAt: now, creditedUntil: now, clockHolderId: null } as const;
  const read = await watch(async (database) => {
    const [holder] = await beginViews(database, [newView(earlier, lastWeek, null)]);
    if (!holder) throw new Error("the first view did not begin");
    const started = await storeChanges(database, [changeOf(holder, start, true)], 0);
    expect(started.result).toMatchObject([{ outcome: "stored" }]);
    const format = "rewarded" as const;
    const question = { botId, userId, code: undefined, mustContinue: false, format, seenSince: undefined, now };
    const [opening] = await readOpenings(database, [question]);
    const held = await readView(database, holder);
    const [begun] = await beginViews(database, [newView(code, now, opening?.viewer.decisions ?? null, held)]);
    const view = begun && (await readView(database, begun));
    if (!view) throw new Error("the second view did not begin");
    const taken = await storeChanges(database, [changeOf(view, { ...start, clockHolderId: holder.viewId }, true)], 0);
    expect(taken.result).toMatchObject([{ outcome: "stored" }]);
    const playing = await readView(database, view);
    if (!playing) throw new Error("the second view is gone");
    expect(playing.clockHolderId).toBe(view.viewId);
    const watched = { state: "watched", watchedAt: now, dueAt: now } as const;
    expect(await storeProgress(database, [changeOf(playing, watched, false)])).toMatchObject([{ outcome: "stored" }]);
    const due = { name: "views.read-due", text: textOfStatement("views.read-due") };
    expect(await database.run(due, [now, 10])).toHaveLength(1);
  });
  expect(read).toEqual({
    "views.begin": own,
    "views.read-opening": weeks,
    "views.read": own,
    "views.read-viewers": own,
    "views.record": weeks,
    "views.record-progress": own,
    "views.read-due": own,
  });
});

test("what names a view by its id alone reads the week that the id tells", async () => {
  const code = codeAt(now);
  const { viewId } = idOf(code);
  const calls: [name: string, values: readonly unknown[]][] = [
    ["views.read", [botId, viewId]],
    ["views.lock", [botId, viewId]],
    ["views.store-fault", [botId, viewId, "other", now, true, code]],
    ["views.count-refusal", [botId, viewId, "superseded"]],
    ["ad-clicks.insert", [botId, viewId, "clk_1", now, now, code]],
    ["views.review-facts", [botId, viewId]],
    ["views.release", [botId, viewId, 1, now, "evt_1", null, null, "", false]],
    ["views.refuse-held", [botId, viewId, 1, now]],
    ["timelines.of-view", [viewId]],
  ];
  const read = await watch(async (database) => {
    await beginViews(database, [newView(code, now, null)]);
    for (const [name, values] of calls) await database.run({ name, text: textOfStatement(name) }, values);
  });
  for (const [name] of calls) expect(read[name], name).toEqual(["views_20260608"]);
});

test("SQL and TypeScript agree about the week of a moment and of a view", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.date({ min: new Date("2020-01-01"), max: new Date("2090-01-01"), noInvalidDate: true }),
      async (at) => {
        const text = 'select code_week_at($1) as week, week_of_view($2) as "ofView"';
        const week = codeWeekAt(at.getTime());
        expect(await ask(text, at, idOf(codeAt(at)).viewId)).toEqual([{ week, ofView: week }]);
      },
    ),
    { numRuns: 200, examples: [[new Date("2026-06-08T00:00:00Z")], [new Date("2026-06-07T23:59:59.999Z")]] },
  );
});
