import { reportDueMs } from "@intermission/ad-core/report-steps";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listEvents } from "../src/events/list-events.ts";
import { migrations } from "../src/migrations.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { sweepViews } from "../src/views/sweep-views.ts";
import { ann, price, withInterstitials } from "./fixtures/interstitial-fixture.ts";
import { type Opened, openViewFixture, playedRange } from "./fixtures/view-fixture.ts";

describe("an interstitial in a publisher's own mini-app", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof withInterstitials>>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    return () => store.dispose();
  });
  beforeEach(async () => {
    const settings = { cooldownSeconds: 3600, dailyCap: 1 };
    fixture = await withInterstitials(await openViewFixture(store.database, viewPlayerRoutes, settings));
    return () => fixture.close();
  });

  test("it is charged once it was in view for five seconds by the server's clock, and rewards nobody", async () => {
    const view = await fixture.beginAd();
    expect((await fixture.play(view, 0, 4)).body).toMatchObject({ state: "playing", accepted_ms: 4000 });
    fixture.advance(1);
    const claim = { reports: [playedRange(view.first_sequence + 4, 4)] };
    expect((await fixture.report(view, claim)).body).toMatchObject({ state: "watched", accepted_ms: 5000 });
    expect(await fixture.earned()).toMatchObject([{ event: "interstitial", price_micros: price }]);
    // It plays on, and is skipped.
    fixture.advance(1);
    const skip = { reports: [playedRange(view.first_sequence + 5, 5)], closed: "tap" as const };
    expect((await fixture.report(view, skip)).body).toMatchObject({ state: "rewarded", accepted_ms: 6000 });
    expect(await fixture.earned()).toMatchObject([{ event: "interstitial", price_micros: price }]);
    expect(await fixture.viewers()).toMatchObject([{ user_id: ann, earned_today: 0 }]);
    const milestones = await fixture.run<{ milestone: string }>(
      "select milestone from ad_milestones where bot_id = $1 order by 1",
      fixture.botId,
    );
    expect(milestones.map(({ milestone }) => milestone)).toEqual(["close", "first-quartile", "midpoint", "start"]);
    // The bot's cooldown of an hour and its cap of one begin with a reward.
    expect((await fixture.open(ann)).body).toMatchObject({ outcome: "session", code: expect.any(String) });
  });

  test("what is claimed faster than time passes, or skipped before, is not charged", async () => {
    const view = await fixture.beginAd();
    await fixture.report(view, { started: true });
    fixture.advance(3.9);
    const claims = Array.from({ length: 5 }, (_, second) => playedRange(second, second));
    expect((await fixture.report(view, { reports: claims })).body).toMatchObject({
      state: "playing",
      accepted_ms: 4000,
    });
    expect((await fixture.report(view, { reports: claims.slice(4), closed: "tap" })).body).toMatchObject({
      state: "playing",
    });
    fixture.advance(3600);
    await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
    expect(await fixture.earned()).toEqual([]);
  });

  test("a campaign says after how long it is charged and may be skipped, and a change does not touch a view that began", async () => {
    await fixture.run(
      "update campaigns set skip_after_seconds = 0, charged_after_seconds = 2 where campaign_id = 'cmp_between'",
    );
    await fixture.campaigns.refresh();
    try {
      const { body } = await fixture.openAd();
      expect(body).toMatchObject({ skip_after_ms: 0 });
      const view = body as unknown as Opened;
      await fixture.run("update campaigns set charged_after_seconds = 9 where campaign_id = 'cmp_between'");
      await fixture.play(view, 0, 2);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    } finally {
      await fixture.run(
        "update campaigns set skip_after_seconds = 5, charged_after_seconds = null where campaign_id = 'cmp_between'",
      );
    }
  });

  test("eight at once on two nodes show one, and it is charged once", async () => {
    const nodes = [fixture.address, await fixture.startNode()];
    const openings = await Promise.all(Array.from({ length: 8 }, (_, place) => fixture.openAd(nodes[place % 2])));
    const views = openings.map(({ body }) => body as unknown as Opened);
    const starts = await Promise.all(
      views.map((view, place) => fixture.report(view, { started: true }, nodes[place % 2])),
    );
    const [shown, ...others] = views.filter((_, place) => starts[place]?.status === 200);
    if (shown === undefined) throw new Error("none began");
    expect(others).toEqual([]);
    fixture.advance(5);
    const reports = Array.from({ length: 5 }, (_, second) => playedRange(second, second));
    const close = { reports, closed: "tap" as const };
    const closes = await Promise.all(
      Array.from({ length: 8 }, (_, place) => fixture.report(shown, close, nodes[place % 2])),
    );
    expect(closes.map(({ status }) => status)).toEqual(closes.map(() => 200));
    expect(await fixture.earned()).toHaveLength(1);
    expect((await fixture.openAd()).body).toMatchObject({ outcome: "limit-reached", reason: "cooldown" });
  });

  test("a viewer is shown one in each pause of the bot, which availability says, too", async () => {
    const at = fixture.clock.now.getTime();
    const [first, second] = [await fixture.beginAd(), (await fixture.begin(ann)) as Opened];
    // An offer that was not started is withdrawn by the next one, of whichever format.
    expect((await fixture.report(first, { started: true })).status).toBe(401);
    expect((await fixture.report(second, {})).status).toBe(200);
    await fixture.play(await fixture.beginAd(), 0, 1);
    const availableAt = new Date(at + 60_000).toISOString();
    expect((await fixture.openAd()).body).toMatchObject({ outcome: "limit-reached", available_at: availableAt });
    expect((await fixture.grant()).body).toMatchObject({
      available: false,
      reason: "cooldown",
      available_at: availableAt,
    });
    expect((await fixture.grant({ init_data: fixture.initData(ann), format: "rewarded" })).body).toMatchObject({
      available: true,
    });
    fixture.advance(59);
    expect((await fixture.grant()).body).toMatchObject({ available: true });
    await fixture.play(await fixture.beginAd(), 0, 1);
    await fixture.setBot("interstitial_seconds = 0");
    await fixture.beginAd();
  });

  test("an interstitial left at 2 s, or once it was watched, is continued by no rewarded opening", async () => {
    const left = await fixture.beginAd();
    await fixture.play(left, 0, 2);
    const rewarded = await fixture.begin(ann);
    expect(rewarded).not.toHaveProperty("skip_after_ms");
    expect(rewarded.session_id).not.toBe(left.session_id);
    expect((await fixture.report(left, {})).status).toBe(200);
    await fixture.play(rewarded, 0, 10);
    expect((await fixture.report(rewarded, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    expect(await fixture.earned()).toMatchObject([{ event: "rewarded" }]);
    fixture.advance(3600);

    await fixture.setBot("cooldown_seconds = 0, daily_cap = 9");
    const watched = await fixture.beginAd();
    await fixture.play(watched, 0, 6);
    const next = await fixture.begin(ann);
    expect(next).not.toHaveProperty("skip_after_ms");
    await fixture.report(next, { started: true });
    expect((await fixture.report(watched, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    // Nor by one with its code.
    const { code } = watched as unknown as { code: string };
    expect((await fixture.open(ann, code)).body).toMatchObject({ error: { code: "CODE_UNKNOWN" } });
  });

  test("launch data that is too old to begin a view continues a rewarded one alone", async () => {
    const openLate = () =>
      fixture.post("/sessions", { bot_id: fixture.botId, init_data: fixture.initData(ann, { secondsAgo: 7200 }) });
    await fixture.play(await fixture.beginAd(), 0, 2);
    expect((await openLate()).body).toMatchObject({ error: { code: "INIT_DATA_EXPIRED" } });
    const rewarded = await fixture.begin(ann);
    await fixture.play(rewarded, 0, 1);
    fixture.advance(60);
    await fixture.play(await fixture.beginAd(), 0, 2);
    expect((await openLate()).body).toMatchObject({ outcome: "session", session_id: rewarded.session_id });
  });

  test.each([
    { durationMs: 20_000, chargedAfter: null, calls: 1, ofSilence: [] },
    { durationMs: 19_980, chargedAfter: null, calls: 1, ofSilence: [] },
    { durationMs: 19_000, chargedAfter: null, calls: 2, ofSilence: [] },
    { durationMs: 30_000, chargedAfter: null, calls: 2, ofSilence: ["too-few-calls"] },
    { durationMs: 30_000, chargedAfter: 12, calls: 4, ofSilence: ["too-few-calls"] },
  ])(
    "of $durationMs ms, reported as its player does, it is not suspected: where there is time for a second call, one alone is",
    async (video) => {
      const { durationMs, chargedAfter, calls, ofSilence } = video;
      const shown = async () => {
        const view = await fixture.beginAd();
        await fixture.run(
          "update views set duration_ms = $2, charged_after_ms = coalesce($3 * 1000, charged_after_ms), version = version + 1 where view_id = $1",
          view.session_id,
          durationMs,
          chargedAfter,
        );
        fixture.views.remembered.delete(view.session_id);
        return view;
      };
      const suspicions = async (view: Opened) => {
        const [row] = await fixture.run<{ suspicions: string[] | null }>(
          "select suspicions from views where view_id = $1",
          view.session_id,
        );
        return row?.suspicions ?? [];
      };
      const range = (sequence: number, from_ms: number, to_ms: number) => ({
        ...playedRange(sequence, 0),
        from_ms,
        to_ms,
        rendered_frames: Math.floor((to_ms - from_ms) / 40),
      });
      const view = await shown();
      await fixture.report(view, { started: true });
      let [made, state, from] = [0, "playing", 0];
      for (; state === "playing"; made++) {
        const to = reportDueMs(from, durationMs) + 7;
        fixture.advance((to - from) / 1000);
        ({ state } = (await fixture.report(view, { reports: [range(made, from, to)] })).body as { state: string });
        from = to;
      }
      expect(made).toBe(calls);
      await fixture.report(view, { closed: "tap" });
      expect(await suspicions(view)).toEqual([]);

      fixture.advance(3600);
      const silent = await shown();
      await fixture.report(silent, { started: true });
      fixture.advance(13);
      const all = [range(0, 0, 6500), range(1, 6500, 13_000)];
      expect((await fixture.report(silent, { reports: all, closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      expect(await suspicions(silent)).toEqual(ofSilence);
    },
  );

  test("two sweepers charge the view of a page that vanished once, and a later close adds nothing", async () => {
    const view = await fixture.beginAd();
    await fixture.play(view, 0, 7);
    fixture.advance(20);
    const sweep = () => sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
    await Promise.all([sweep(), sweep()]);
    expect(await fixture.earned()).toHaveLength(1);
    expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
    expect(await fixture.earned()).toHaveLength(1);
  });

  test("only a bot that asks for it gets the webhook, and finds it in its list of events", async () => {
    const charged = async () => {
      await fixture.play(await fixture.beginAd(), 0, 5);
      fixture.advance(16);
      await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
      fixture.advance(60);
    };
    await charged();
    expect(await fixture.events()).toEqual([]);
    await fixture.setBot("sends_interstitials = true");
    await charged();
    const sent = await fixture.events();
    expect(sent.map(({ event, body }) => [event, JSON.parse(body).event])).toEqual([["interstitial", "interstitial"]]);
    expect(await fixture.run("select state from deliveries where bot_id = $1", fixture.botId)).toEqual([
      { state: "waiting" },
    ]);
    const list = async (hasInterstitials = true) => {
      const page = await listEvents(store.database, { botId: fixture.botId, limit: 10, hasInterstitials });
      return page.outcome === "page" ? page.events.map(({ event }) => event) : page.outcome;
    };
    // Of what has settled.
    await expect.poll(() => list()).toEqual(["interstitial", "interstitial"]);
    expect(await list(false)).toEqual([]);
    expect(await fixture.earned()).toHaveLength(2);
  });

  test("launch data alone opens none: the page's origin must be registered", async () => {
    const request = { bot_id: fixture.botId, format: "interstitial", init_data: fixture.initData(ann) };
    expect(await fixture.post("/sessions", request)).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: "app_grant" }] } },
    });
  });
});
