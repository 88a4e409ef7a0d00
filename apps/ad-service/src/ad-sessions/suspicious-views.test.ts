import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { migrations } from "../migrations.ts";
import { rollUpUntilNow } from "../statistics/facts-stage.ts";
import { readStatistics } from "../statistics/read-statistics.ts";
import { openViewerStage, type ViewerStage } from "../viewer-stage.ts";
import { refuseView, releaseView } from "./decide-view.ts";
import { listViews } from "./list-views.ts";
import { type Opened, wholeVideo } from "./session-stage.ts";

const ann = "501";

describe.each(testDatabases())("a view without a single frame, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;
  let stage: ViewerStage;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => stage.close());

  async function watchBlindly(suspiciousViews: "pay" | "hold" | "refuse", dailyCap = 20) {
    stage = await openViewerStage(store.database, { suspiciousViews, dailyCap });
    const code = await stage.issue(ann);
    const session = await stage.begin(ann, code);
    await stage.report(session, { started: true });
    stage.advance(10);
    const reports = wholeVideo().map((report) => ({ ...report, from_ms: report.from_ms + 3, rendered_frames: 0 }));
    const { body } = await stage.report(session, { reports, closed: "tap" });
    return { code, session, answer: { state: body.state, review: body.review } };
  }

  const decisionOf = (session: Opened) => ({ botId: stage.botId, sessionId: session.session_id, now: stage.clock.now });

  test("is paid where the bot's setting says so, and marked", async () => {
    const { code, answer } = await watchBlindly("pay");
    expect(answer).toEqual({ state: "rewarded", review: undefined });
    expect(await stage.events()).toHaveLength(1);
    expect((await stage.describe(code)).sessions).toMatchObject([{ state: "rewarded", suspicions: ["no-frames"] }]);
    expect(await listViews(store.database, { botId: stage.botId, limit: 5 })).toMatchObject([
      { state: "rewarded", suspicions: ["no-frames"], decidedAt: null },
    ]);
  });

  test("is held: not paid, not charged, and used up its viewer's turn; released, it is paid once", async () => {
    const { code, session, answer } = await watchBlindly("hold", 2);
    expect(answer).toEqual({ state: "watched", review: "held" });
    expect([await stage.events(), await stage.charges()]).toEqual([[], []]);
    expect(await stage.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect((await stage.describe(code)).sessions).toMatchObject([{ state: "watched", review: "held" }]);
    // Whatever comes later changes nothing, and the next request gets another code.
    expect((await stage.report(session, { closed: "tap" })).body).toMatchObject({ state: "watched", review: "held" });
    expect((await stage.status(session)).body).toMatchObject({ state: "watched", review: "held" });
    // Opened again it tells the same, and is not offered anew.
    const again = await stage.begin(ann, code);
    expect(again).toMatchObject({ state: "watched", review: "held" });
    expect(await stage.issue(ann)).not.toBe(code);

    stage.advance(60);
    const release = () => releaseView(store.database, { ...decisionOf(session), eventId: `evt_${stage.botId}` });
    const outcomes = await Promise.all([release(), release(), release()]);
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(["not-held", "not-held", "released"]);
    expect(await stage.events()).toMatchObject([{ event: "rewarded", user_id: ann, code }]);
    expect(await stage.charges()).toHaveLength(1);
    expect(await stage.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect((await stage.status(again)).body).toMatchObject({ state: "rewarded" });
    expect(await refuseView(store.database, decisionOf(session))).toEqual({ outcome: "not-held", state: "rewarded" });
  });

  test("is held and refused for good", async () => {
    const { session } = await watchBlindly("hold");
    expect(await refuseView(store.database, decisionOf(session))).toEqual({ outcome: "refused" });
    expect((await stage.status(session)).body).toMatchObject({ state: "watched", review: "refused" });
    const release = releaseView(store.database, { ...decisionOf(session), eventId: "evt_never" });
    expect(await release).toEqual({ outcome: "not-held", state: "refused" });
    expect(await stage.events()).toEqual([]);
  });

  test("is refused at once, counts in the statistics with its reason, and its link can still be followed", async () => {
    const { code, answer } = await watchBlindly("refuse", 1);
    expect(answer).toEqual({ state: "watched", review: "refused" });
    expect((await stage.open(ann)).body).toMatchObject({ outcome: "limit-reached", reason: "daily-cap" });
    await stage.recordLinkFollowed(ann, code);
    expect((await stage.events()).map(({ event }) => event)).toEqual(["direct_link"]);

    await rollUpUntilNow(store.database);
    const hour = new Date("2026-03-01T12:00:00Z");
    const time = { from: hour, to: new Date(hour.getTime() + 3_600_000), by: "day" as const };
    const { total } = await readStatistics(store.database, { botId: stage.botId, ...time });
    expect(total).toMatchObject({
      ...{ requests: 1, fills: 1, starts: 1, midpoints: 1, completions: 1, rewards: 0, closes: { tap: 1 } },
      ...{ viewsRefused: { "no-frames": 1 }, limited: { "daily-cap": 1 }, spendMicros: 0 },
    });
  });

  test("nothing is said of a session that nobody opened", async () => {
    stage = await openViewerStage(store.database);
    const id = { botId: stage.botId, sessionId: `${stage.botId}-x`, now: stage.clock.now };
    expect(await refuseView(store.database, id)).toEqual({ outcome: "unknown-view" });
  });
});
