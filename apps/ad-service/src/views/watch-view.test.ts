import { openSessionResponse, statusResponse } from "@intermission/ad-core/player-api";
import { parseWebhookEvent } from "@intermission/ad-core/webhook-event";
import type { CampaignStatus } from "@intermission/operator-api/campaign-words";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openViewFixture, playedRange, type ViewFixture, wholeVideo } from "../../test/fixtures/view-fixture.ts";
import { setCampaignStatus } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";
import { sweepViews } from "./sweep-views.ts";

const ann = "501";

describe("watching a video", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
  });
  afterEach(() => fixture.close());

  describe("what earns a reward", () => {
    test("a view that is watched to the end and closed pays exactly once", async () => {
      const code = await fixture.issue(ann, "order-7");
      const opened = openSessionResponse.parse((await fixture.open(ann, code)).body);
      expect(opened).toMatchObject({
        outcome: "session",
        state: "opened",
        code,
        bot: { name: "Test bot", link: "https://t.me/test_bot" },
        ad: {
          advertiser: "Intermission",
          media_url: "http://ads.test/media/ab.mp4",
          call_to_action: {
            label: "Look",
            url: expect.stringMatching(/^http:\/\/ads\.test\/player\/v1\/sessions\/[\w-]+\/click\?key=[\w-]{22}$/),
          },
        },
      });
      if (opened.outcome !== "session") throw new Error("not opened");
      expect((await fixture.play(opened, 0, 10)).body).toMatchObject({ state: "watched", accepted_ms: 10_000 });
      expect(await fixture.events()).toEqual([]);

      const closed = await fixture.report(opened, { closed: "tap" });
      expect(closed.body).toMatchObject({ state: "rewarded" });
      await fixture.report(opened, { closed: "tap" });
      await fixture.report(opened, { closed: "page-hidden" });

      const [event, ...others] = await fixture.events();
      expect(others).toEqual([]);
      expect(event).toMatchObject({ event: "rewarded", user_id: ann, code });
      const body = parseWebhookEvent(Buffer.from(event?.body ?? ""));
      expect(body).toMatchObject({
        outcome: "valid",
        event: { event: "rewarded", user_tg_id: ann, bot_id: fixture.botId, code, reference: "order-7" },
      });
      expect(await fixture.charges()).toMatchObject([{ code, price_micros: 2500 }]);
      expect(await fixture.viewers()).toMatchObject([{ user_id: ann, earned_today: 1 }]);
      expect(await fixture.storedViews()).toMatchObject([{ state: "rewarded", close_reason: "tap" }]);
    });

    test("64 concurrent closes create one event", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 10);
      const other = await fixture.startNode();
      const closes = Array.from({ length: 64 }, (_, index) =>
        fixture.report(view, { closed: "tap" }, index % 2 ? other : undefined),
      );
      const answers = await Promise.all(closes);
      expect(new Set(answers.map(({ body }) => body.state))).toEqual(new Set(["rewarded"]));
      expect(await fixture.events()).toHaveLength(1);
      expect(await fixture.charges()).toHaveLength(1);
      expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    });

    test("a close that overtakes its reports is kept for 30 s", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 8);
      fixture.advance(2);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "playing" });
      fixture.advance(30);
      const late = await fixture.report(view, { reports: [playedRange(8, 8), playedRange(9, 9)] });
      expect(late.body).toMatchObject({ state: "rewarded" });
      expect(await fixture.events()).toHaveLength(1);
    });

    test("a close without its reports earns later, if the hidden page comes back, plays the rest and closes again", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 5);
      await fixture.report(view, { closed: "page-hidden" });
      fixture.advance(31);
      const rest = [5, 6, 7, 8, 9].map((second) => playedRange(second, second));
      expect((await fixture.report(view, { reports: rest.slice(0, 1), playing: true })).body.state).toBe("playing");
      fixture.advance(4);
      expect((await fixture.report(view, { reports: rest })).body).toMatchObject({ state: "watched" });
      expect(await fixture.events()).toEqual([]);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    });

    test("reports more than 30 s after their close complete the view, which the next close pays", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 5);
      fixture.advance(5);
      await fixture.report(view, { closed: "tap" });
      fixture.advance(31);
      const rest = [5, 6, 7, 8, 9].map((second) => playedRange(second, second));
      expect((await fixture.report(view, { reports: rest })).body).toMatchObject({ state: "watched" });
      expect(await fixture.events()).toEqual([]);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    });

    test("a page's last beacon, plain text with all unacknowledged reports, earns", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.report(view, { started: true });
      fixture.advance(10);
      const body = JSON.stringify({ token: view.token, reports: wholeVideo(), closed: "page-hidden" });
      const answer = await fixture.post(`/sessions/${view.session_id}/reports`, body, "text/plain;charset=UTF-8");
      expect(answer).toMatchObject({ status: 200, body: { state: "rewarded" } });
    });

    test("a lost report that is sent again twice, in another order, counts once", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.report(view, { started: true });
      fixture.advance(10);
      const reversed = wholeVideo().toReversed();
      await fixture.report(view, { reports: reversed.slice(0, 4) });
      const answer = await fixture.report(view, { reports: reversed });
      expect(answer.body).toMatchObject({ state: "watched", accepted_ms: 10_000, refused: [] });
    });
  });

  describe("what earns nothing", () => {
    test("closing early", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 5);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({
        state: "playing",
        accepted_ms: 5000,
      });
      await sweepViews(fixture.views, {
        listeningSince: new Date(0),
        now: new Date(fixture.clock.now.getTime() + 60_000),
      });
      expect(await fixture.events()).toEqual([]);
    });

    test.each([
      { name: "seeking to the end", reports: [playedRange(0, 0), playedRange(1, 9)], afterSeconds: 10 },
      { name: "fourfold speed", reports: wholeVideo(), afterSeconds: 2.5 },
      { name: "a forged report of the whole video", reports: wholeVideo(), afterSeconds: 0 },
      { name: "a hidden page", reports: wholeVideo().map((one) => ({ ...one, visible: false })), afterSeconds: 10 },
    ])("$name", async ({ reports, afterSeconds }) => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.report(view, { started: true });
      fixture.advance(afterSeconds);
      const answer = await fixture.report(view, { reports, closed: "tap" });
      expect(answer).toMatchObject({ status: 200, body: { state: "playing" } });
      expect(await fixture.events()).toEqual([]);
    });

    test("reports before the start was recorded", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      fixture.advance(10);
      const answer = await fixture.report(view, { reports: wholeVideo(), closed: "tap" });
      expect(answer.body).toMatchObject({ state: "opened", accepted_ms: 0 });
      expect(answer.body.refused).toHaveLength(10);
    });

    test("a view of which only the id is known", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      const forged = { ...view, token: "x".repeat(43) };
      expect(await fixture.report(forged, { started: true })).toMatchObject({
        status: 401,
        body: { error: { code: "SESSION_UNKNOWN" } },
      });
      expect(await fixture.status(forged)).toMatchObject({ status: 401 });
      expect(await fixture.report({ ...view, session_id: "nonsense" }, {})).toMatchObject({ status: 401 });
    });

    test("after the deadline nothing is accepted", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 3);
      fixture.advance(3600 + 600);
      expect(await fixture.report(view, { reports: [playedRange(3, 3)] })).toMatchObject({
        status: 410,
        body: { error: { code: "SESSION_OVER" } },
      });
    });
  });

  describe("opening again", () => {
    test("continues where the viewer left off, and invalidates the earlier token", async () => {
      const code = await fixture.issue(ann);
      const first = await fixture.begin(ann, code);
      await fixture.play(first, 0, 4);
      fixture.advance(600);
      const again = await fixture.open(ann, code);
      expect(again.body).toMatchObject({
        session_id: first.session_id,
        state: "playing",
        accepted_ms: 4000,
        resume_at_ms: 4000,
        first_sequence: 4,
      });
      expect(await fixture.report(first, { reports: [playedRange(4, 4)] })).toMatchObject({
        status: 409,
        body: { error: { code: "SUPERSEDED" } },
      });
      const second = again.body as unknown as typeof first;
      await fixture.play(second, 4, 10);
      expect((await fixture.report(second, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      expect(await fixture.events()).toHaveLength(1);
    });

    test("a watched view closes it: swiped away at the end, it is paid when opened again", async () => {
      const code = await fixture.issue(ann);
      await fixture.play(await fixture.begin(ann, code), 0, 10);
      expect((await fixture.open(ann, code)).body).toMatchObject({ outcome: "session", state: "rewarded", code });
      expect((await fixture.open(ann, code)).body).toMatchObject({ outcome: "session", state: "rewarded" });
      expect(await fixture.events()).toHaveLength(1);
      expect(await fixture.storedViews()).toMatchObject([{ close_reason: "reopened" }]);
    });

    test("in two tabs at the same time leaves one view, and one tab has the valid token", async () => {
      const code = await fixture.issue(ann);
      const tabs = await Promise.all(Array.from({ length: 8 }, () => fixture.begin(ann, code)));
      expect(new Set(tabs.map(({ session_id }) => session_id)).size).toBe(1);
      const answers = await Promise.all(tabs.map((tab) => fixture.report(tab, { started: true })));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(7);
    });

    test("without a code continues the view that was left", async () => {
      const code = await fixture.issue(ann, "from-a-button");
      await fixture.play(await fixture.begin(ann, code), 0, 3);
      expect((await fixture.open(ann)).body).toMatchObject({ code, resume_at_ms: 3000 });
    });

    test("keeps the status: a rewarded view is shown as such, also after the code expired", async () => {
      const code = await fixture.issue(ann);
      const view = await fixture.begin(ann, code);
      await fixture.play(view, 0, 10);
      await fixture.report(view, { closed: "tap" });
      fixture.advance(3 * 3600);
      const again = await fixture.begin(ann, code);
      const status = await fixture.status(again);
      expect(statusResponse.parse(status.body)).toMatchObject({ state: "rewarded", event: { delivery: "on-its-way" } });
    });
  });

  describe("changes during a view", () => {
    test("a server that restarts in mid-watch loses nothing", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 6);
      const restarted = await fixture.startNode();
      fixture.advance(4);
      const rest = [6, 7, 8, 9].map((second) => playedRange(second, second));
      const answer = await fixture.report(view, { reports: rest, closed: "tap" }, restarted);
      expect(answer.body).toMatchObject({ state: "rewarded", accepted_ms: 10_000 });
    });

    test("viewers who began can finish the ad of a campaign that is paused meanwhile", async () => {
      const code = await fixture.issue(ann);
      await fixture.play(await fixture.begin(ann, code), 0, 5);
      const setStatus = (status: CampaignStatus) =>
        setCampaignStatus(store.database, { campaignId: "cmp_1", status, by: "operator", now: new Date() });
      await setStatus("paused");
      await fixture.campaigns.refresh();
      const back = await fixture.begin(ann, code);
      await setStatus("active");
      await fixture.play(back, 5, 10);
      expect((await fixture.report(back, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    });

    test("a code whose direct link was followed can still be used for a view", async () => {
      const code = await fixture.issue(ann);
      await fixture.recordLinkFollowed(ann, code);
      const view = await fixture.begin(ann, code);
      await fixture.play(view, 0, 10);
      await fixture.report(view, { closed: "tap" });
      expect((await fixture.events()).map(({ event }) => event).toSorted()).toEqual(["direct_link", "rewarded"]);
    });
  });

  describe("the sweeper", () => {
    const sweep = (afterSeconds: number, listeningSince = new Date(0)) =>
      sweepViews(fixture.views, {
        listeningSince,
        now: new Date(fixture.clock.now.getTime() + afterSeconds * 1000),
      });

    test("closes a watched view 15 s after its last heartbeat, and pays once", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 10);
      await sweep(15);
      expect(await fixture.events()).toEqual([]);
      await Promise.all([sweep(15.001), sweep(16)]);
      await sweep(17);
      expect(await fixture.events()).toHaveLength(1);
      expect(await fixture.storedViews()).toMatchObject([{ state: "rewarded", close_reason: "heartbeat-lost" }]);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      expect(await fixture.events()).toHaveLength(1);
    });

    test("creates one event when it races with a close on another node and a reopening", async () => {
      const code = await fixture.issue(ann);
      const view = await fixture.begin(ann, code);
      await fixture.play(view, 0, 10);
      const other = await fixture.startNode();
      fixture.advance(16);
      const racers = [fixture.report(view, { closed: "tap" }, other), sweep(0), fixture.open(ann, code), sweep(0)];
      await Promise.all(racers);
      expect(await fixture.events()).toHaveLength(1);
      expect(await fixture.charges()).toHaveLength(1);
      expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
    });

    test("leaves a view open while its heartbeats arrive", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 10);
      for (let beat = 0; beat < 5; beat++) {
        fixture.advance(5);
        await fixture.report(view, {});
        await sweep(0);
      }
      expect(await fixture.storedViews()).toMatchObject([{ state: "watched" }]);
    });

    test("does not mistake a restart of the service for the viewer's silence", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 10);
      fixture.advance(60);
      const restartedAt = fixture.clock.now;
      await sweep(14, restartedAt);
      expect(await fixture.storedViews()).toMatchObject([{ state: "watched" }]);
      fixture.advance(4);
      await fixture.report(view, {});
      await sweep(14, restartedAt);
      expect(await fixture.storedViews()).toMatchObject([{ state: "watched" }]);
    });

    test("closes a watched view that is still open at its deadline", async () => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.play(view, 0, 10);
      fixture.advance(3600 + 590);
      await fixture.report(view, {});
      await sweep(11);
      expect(await fixture.storedViews()).toMatchObject([{ state: "rewarded", close_reason: "deadline" }]);
    });

    test("judges reports that the clock allows just before the deadline like all others, however late it runs", async () => {
      const text = "update bots set suspicious_views = 'hold' where bot_id = $1";
      await fixture.database.run({ name: "", text }, [fixture.botId]);
      const code = await fixture.issue(ann);
      await fixture.begin(ann, code);
      fixture.advance(3600 + 590);
      const view = await fixture.begin(ann, code);
      await fixture.report(view, { started: true });
      fixture.advance(8.5);
      const reports = wholeVideo().map((report) => ({ ...report, rendered_frames: 0 }));
      const { body } = await fixture.report(view, { reports, closed: "tap" });
      expect(body).toMatchObject({ state: "playing", too_early: expect.any(Object) });
      await sweep(7200);
      await sweep(7201);
      expect(await fixture.storedViews()).toMatchObject([{ state: "held", accepted_ms: 10_000 }]);
      expect(await fixture.events()).toEqual([]);
    });
  });
});
