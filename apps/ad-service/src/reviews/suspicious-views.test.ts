import type { ProgressReport } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readReportOf, rollUpUntilNow } from "../../test/fixtures/facts-fixture.ts";
import { type Opened, wholeVideo } from "../../test/fixtures/view-fixture.ts";
import { openViewerFixture, type ViewerFixture } from "../../test/fixtures/viewer-fixture.ts";
import { migrations } from "../migrations.ts";
import { listViews, refuseView, releaseView } from "./review-views.ts";

const ann = "501";

/** A call for each second of the video, then the closing tap. */
async function reportWhilePlaying(fixture: ViewerFixture, view: Opened, reports: readonly ProgressReport[]) {
  await fixture.report(view, { started: true });
  for (const report of reports) {
    fixture.advance(1);
    await fixture.report(view, { reports: [report] });
  }
  return fixture.report(view, { closed: "tap" });
}

describe("a view without a single frame", () => {
  let store: TestDatabase;
  let fixture: ViewerFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  async function watchBlindly(suspiciousViews: "pay" | "hold" | "refuse", dailyCap = 20) {
    fixture = await openViewerFixture(store.database, { suspiciousViews, dailyCap });
    const code = await fixture.issue(ann);
    const view = await fixture.begin(ann, code);
    const reports = wholeVideo().map((report) => ({ ...report, from_ms: report.from_ms + 3, rendered_frames: 0 }));
    const { body } = await reportWhilePlaying(fixture, view, reports);
    return { code, view, answer: { state: body.state, review: body.review } };
  }

  const decisionOf = (view: Opened) => ({
    botId: fixture.botId,
    viewId: view.session_id,
    now: fixture.clock.now,
  });

  test("is paid and marked if the bot's setting is to pay", async () => {
    const { code, answer } = await watchBlindly("pay");
    expect(answer).toEqual({ state: "rewarded", review: undefined });
    expect(await fixture.events()).toHaveLength(1);
    expect((await fixture.describe(code)).sessions).toMatchObject([{ state: "rewarded", suspicions: ["no-frames"] }]);
    expect((await listViews(store.database, { botId: fixture.botId, limit: 5 })).rows).toMatchObject([
      { state: "rewarded", suspicions: ["no-frames"], decidedAt: null },
    ]);
  });

  test("is held: neither paid nor charged, but counted in the viewer's limits; when released, it is paid once", async () => {
    const { code, view, answer } = await watchBlindly("hold", 2);
    expect(answer).toEqual({ state: "watched", review: "held" });
    expect([await fixture.events(), await fixture.charges()]).toEqual([[], []]);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect((await fixture.describe(code)).sessions).toMatchObject([{ state: "watched", review: "held" }]);
    // Later calls change nothing, and the next request gets another code.
    expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "watched", review: "held" });
    expect((await fixture.status(view)).body).toMatchObject({ state: "watched", review: "held" });
    // Opening it again returns the same state and offers no new view.
    const again = await fixture.begin(ann, code);
    expect(again).toMatchObject({ state: "watched", review: "held" });
    expect(await fixture.issue(ann)).not.toBe(code);

    fixture.advance(60);
    const release = () => releaseView(store.database, { ...decisionOf(view), eventId: `evt_${fixture.botId}` });
    const outcomes = await Promise.all([release(), release(), release()]);
    expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(["not-held", "not-held", "released"]);
    expect(await fixture.events()).toMatchObject([{ event: "rewarded", user_id: ann, code }]);
    expect(await fixture.charges()).toHaveLength(1);
    expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    expect((await fixture.status(again)).body).toMatchObject({ state: "rewarded" });
    expect(await refuseView(store.database, decisionOf(view))).toEqual({ outcome: "not-held", state: "rewarded" });
  });

  test("is decided once by a release and a refusal at the same time", async () => {
    const { view } = await watchBlindly("hold");
    const outcomes = await Promise.all([
      releaseView(store.database, { ...decisionOf(view), eventId: `evt_${fixture.botId}` }),
      refuseView(store.database, decisionOf(view)),
      refuseView(store.database, decisionOf(view)),
    ]);
    const decided = outcomes.filter(({ outcome }) => outcome !== "not-held").map(({ outcome }) => outcome);
    expect(decided).toEqual([expect.stringMatching(/^(released|refused)$/)]);
    expect(await fixture.events()).toHaveLength(decided[0] === "released" ? 1 : 0);
  });

  test("is held and permanently refused", async () => {
    const { view } = await watchBlindly("hold");
    expect(await refuseView(store.database, decisionOf(view))).toEqual({ outcome: "refused" });
    expect((await fixture.status(view)).body).toMatchObject({ state: "watched", review: "refused" });
    const release = releaseView(store.database, { ...decisionOf(view), eventId: "evt_never" });
    expect(await release).toEqual({ outcome: "not-held", state: "refused" });
    expect(await fixture.events()).toEqual([]);
  });

  test("is refused immediately, counts in the statistics with its reason, and its link can still be followed", async () => {
    const { code, answer } = await watchBlindly("refuse", 1);
    expect(answer).toEqual({ state: "watched", review: "refused" });
    expect((await fixture.open(ann)).body).toMatchObject({ outcome: "limit-reached", reason: "daily-cap" });
    await fixture.recordLinkFollowed(ann, code);
    expect((await fixture.events()).map(({ event }) => event)).toEqual(["direct_link"]);

    await rollUpUntilNow(store.database);
    const hour = new Date("2026-03-01T12:00:00Z");
    const time = { from: hour, to: new Date(hour.getTime() + 3_600_000), by: "day" as const };
    const { total } = await readReportOf(store.database, { botId: fixture.botId, ...time });
    expect(total).toMatchObject({
      requests: 1,
      fills: 1,
      starts: 1,
      midpoints: 1,
      completions: 1,
      rewards: 0,
      closes: { tap: 1 },
      viewsRefused: { "no-frames": 1 },
      limited: { "daily-cap": 1 },
      spendMicros: 0n,
    });
  });

  test("a view that was never opened is unknown", async () => {
    fixture = await openViewerFixture(store.database);
    const id = { botId: fixture.botId, viewId: `${fixture.botId}-x`, now: fixture.clock.now };
    expect(await refuseView(store.database, id)).toEqual({ outcome: "unknown-view" });
  });
});

describe("a view of a video with few frames", () => {
  let store: TestDatabase;
  let fixture: ViewerFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  afterEach(() => fixture.close());

  /** The video lasts 10 s. */
  async function watch(framesBySecond: number[], renderedBySecond: number[]) {
    fixture = await openViewerFixture(store.database, { suspiciousViews: "refuse" });
    const text = "update creatives set frames_by_second = $1";
    await store.database.run({ name: "", text }, [framesBySecond]);
    const view = await fixture.begin(ann, await fixture.issue(ann));
    const reports = wholeVideo().map((report, second) => ({
      ...report,
      from_ms: report.from_ms + 3,
      rendered_frames: renderedBySecond[second] ?? 0,
    }));
    const { body } = await reportWhilePlaying(fixture, view, reports);
    return { state: body.state, review: body.review };
  }
  const rewarded = { state: "rewarded", review: undefined };
  const refused = { state: "watched", review: "refused" };
  const film = Array(10).fill(25);
  const slides = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0];
  const longSound = [25, 25, 0, 0, 0, 0, 0, 0, 0, 0];

  test.each([
    ["slides of one frame in 5 s", slides, [2]],
    ["slides whose frames were counted before playback", slides, []],
    ["a still with sound", [1], [1]],
    ["sound much longer than the picture", longSound, [25, 25]],
    ["a film on a phone that drops half", film, Array(10).fill(12)],
  ])("%s is paid", async (_name, frames, rendered) => {
    expect(await watch(frames, rendered)).toEqual(rewarded);
  });

  test.each([
    ["a film", film],
    ["sound much longer than the picture", longSound],
    ["six slides", [1, 0, 1, 0, 1, 0, 1, 0, 1, 1]],
  ])("%s of which no frame was rendered is refused", async (_name, frames) => {
    expect(await watch(frames, [])).toEqual(refused);
  });

  test("a film of which less than half was rendered is refused", async () => {
    expect(await watch(film, [25, 25, 25])).toEqual(refused);
  });
});
