import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Opened, openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { listAdReports } from "../creatives/ad-reports.ts";
import { setLegalTexts } from "../creatives/creatives.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";
import { shownReasons } from "./shown-reasons.ts";

const [ann, bob, cid] = ["601", "602", "603"];

describe("reporting an ad", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
  });
  afterAll(async () => {
    await fixture.close();
    await store.dispose();
  });

  const reportAd = (view: Opened, reason: string, token = view.token) =>
    fixture.post(`/sessions/${view.session_id}/ad-reports`, { token, reason });
  const counted = async () => {
    const listed = await listAdReports(store.database, { limit: 50, now: new Date("2027-01-01T00:00:00Z") });
    if (listed.outcome === "bad-cursor") throw new Error("no cursor was sent");
    return listed.page.reports.map(({ latestAt, ...counts }) => counts);
  };

  test("a user's report of an ad counts once a day, for its first reason, in however many views", async () => {
    const view = await fixture.begin(ann, await fixture.issue(ann, "first"));
    expect(await reportAd(view, "scam")).toMatchObject({ status: 200, body: { outcome: "recorded" } });
    // A view that never began is withdrawn when its user opens another one.
    await fixture.play(view, 0, 1);
    const again = await fixture.begin(ann, await fixture.issue(ann, "second"));
    for (const [reported, reason] of [
      [view, "scam"],
      [again, "other"],
    ] as const) {
      expect(await reportAd(reported, reason)).toMatchObject({ status: 200, body: { outcome: "known" } });
    }
    const ofBob = await fixture.begin(bob);
    await Promise.all(Array.from({ length: 8 }, () => reportAd(ofBob, "offensive")));
    expect(await counted()).toEqual([
      { creativeId: "cre_1", reason: "offensive", reports: 1, users: 1 },
      { creativeId: "cre_1", reason: "scam", reports: 1, users: 1 },
    ]);
    fixture.advance(24 * 3600);
    const nextDay = await fixture.begin(ann);
    expect(await reportAd(nextDay, "scam")).toMatchObject({ body: { outcome: "recorded" } });
    expect(await counted()).toEqual([
      { creativeId: "cre_1", reason: "scam", reports: 2, users: 1 },
      { creativeId: "cre_1", reason: "offensive", reports: 1, users: 1 },
    ]);
  });

  test("without the session token, or for a reason that is not on the list, nothing is recorded", async () => {
    const before = await counted();
    const view = await fixture.begin(cid);
    expect(await reportAd(view, "scam", "x")).toMatchObject({ status: 401 });
    expect(await reportAd({ ...view, session_id: `${fixture.botId}-${"x".repeat(25)}` }, "scam")).toMatchObject({
      status: 401,
    });
    for (const reason of ["boring", "", "SCAM"]) expect(await reportAd(view, reason)).toMatchObject({ status: 400 });
    const later = await fixture.begin(cid);
    expect(await reportAd({ ...view, session_id: later.session_id }, "scam")).toMatchObject({ status: 409 });
    expect(await counted()).toEqual(before);
  });

  test("a tester's report is answered and not counted", async () => {
    const before = await counted();
    const other = await openViewFixture(store.database, viewPlayerRoutes);
    const text = "update bots set testers = array['777'] where bot_id = $1";
    await store.database.run({ name: "", text }, [other.botId]);
    const { session_id: id, token } = await other.begin("777");
    const answer = await other.post(`/sessions/${id}/ad-reports`, { token, reason: "scam" });
    expect(answer).toMatchObject({ status: 200, body: { outcome: "recorded" } });
    await other.close();
    expect(await counted()).toEqual(before);
  });

  test("an opening names the ad's legal line and what its campaign's targeting used", async () => {
    const { database } = store;
    const untargeted = await fixture.open(cid, await fixture.issue(cid, "plain"));
    expect(untargeted.body.ad).not.toHaveProperty("legal_line");
    expect(untargeted.body.ad).not.toHaveProperty("shown_because");

    await setLegalTexts(database, { creativeId: "cre_1", legalLine: "Intermission, reg. no. 1", isSubmission: false });
    const targeting = { excludedBots: ["1"], hours: [...Array(24).keys()] };
    await database.run({ name: "", text: "update campaigns set targeting = $1" }, [JSON.stringify(targeting)]);
    // Another node has read neither before.
    const node = await fixture.startNode();
    const targeted = await fixture.open(cid, await fixture.issue(cid, "targeted"), node);
    expect(targeted.body.ad).toMatchObject({ legal_line: "Intermission, reg. no. 1", shown_because: ["bot", "time"] });
  });
});

test("each kind of target is named once, and nothing is named that was not compared", () => {
  expect(shownReasons({})).toEqual([]);
  expect(shownReasons({ bots: ["1"], botCategories: ["games"], premium: false })).toEqual(["bot", "premium"]);
  expect(shownReasons({ weekdays: [1], languages: ["en"], platforms: ["ios"] })).toEqual([
    "language",
    "platform",
    "time",
  ]);
});
