import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { refuseView, releaseView } from "../src/reviews/review-views.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { sweepViews } from "../src/views/sweep-views.ts";
import { startAdServer } from "./fixtures/ad-server-fixture.ts";
import { ann, price, withInterstitials } from "./fixtures/interstitial-fixture.ts";
import { inline, vast } from "./fixtures/sample-ad-server.ts";
import { openVastFixture } from "./fixtures/vast-fixture.ts";
import { type Opened, openViewFixture, playedRange } from "./fixtures/view-fixture.ts";

describe("an interstitial", () => {
  let store: TestDatabase;
  let fixture: Awaited<ReturnType<typeof withInterstitials>>;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    return () => store.dispose();
  });
  beforeEach(async () => {
    fixture = await withInterstitials(await openViewFixture(store.database, viewPlayerRoutes));
    return () => fixture.close();
  });

  const sweep = () => sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
  const stored = async ({ session_id: viewId }: Opened) => {
    const [row] = await fixture.run<{ state: string; close_reason: string | null; is_charged: boolean }>(
      "select state, close_reason, charged_at is not null as is_charged from views where view_id = $1",
      viewId,
    );
    return row;
  };
  const claims = (seconds: number) => Array.from({ length: seconds }, (_, second) => playedRange(second, second));
  const once = [{ event: "interstitial", price_micros: price }];

  test.each<{ end: string; reason: string; after: (view: Opened) => Promise<unknown> }>([
    { end: "a tap on Skip", reason: "tap", after: (view) => fixture.report(view, { closed: "tap" }) },
    {
      end: "its whole length, and a tap",
      reason: "tap",
      after: async (view) => {
        for (let second = 5; second < 10; second++) {
          fixture.advance(1);
          await fixture.report(view, { reports: [playedRange(second, second)] });
        }
        await fixture.report(view, { closed: "tap" });
      },
    },
    { end: "a hidden page", reason: "page-hidden", after: (view) => fixture.report(view, { closed: "page-hidden" }) },
    {
      end: "a page that vanished, and two sweepers",
      reason: "heartbeat-lost",
      after: async () => {
        fixture.advance(16);
        await Promise.all([sweep(), sweep()]);
      },
    },
    {
      end: "its deadline",
      reason: "deadline",
      after: async () => {
        fixture.advance(3 * 86_400);
        await sweep();
      },
    },
    {
      end: "eight calls at once on two nodes, of which one restarted",
      reason: "tap",
      after: async (view) => {
        const nodes = [fixture.address, await fixture.startNode()];
        fixture.advance(1);
        const close = { reports: [playedRange(5, 5)], closed: "tap" as const };
        await Promise.all(Array.from({ length: 8 }, (_, place) => fixture.report(view, close, nodes[place % 2])));
      },
    },
  ])("is charged while it plays, and stays so after $end", async ({ reason, after }) => {
    const view = await fixture.beginAd();
    await fixture.play(view, 0, 4);
    expect(await fixture.earned()).toEqual([]);
    fixture.advance(1);
    const call = { reports: [playedRange(4, 4)] };
    const nodes = [fixture.address, await fixture.startNode()];
    await Promise.all(Array.from({ length: 8 }, (_, place) => fixture.report(view, call, nodes[place % 2])));
    const [event] = await fixture.earned();
    expect(await fixture.earned()).toMatchObject(once);
    expect(await stored(view)).toEqual({ state: "watched", close_reason: null, is_charged: true });
    fixture.views.remembered.delete(view.session_id);
    await after(view);
    expect(await stored(view)).toEqual({ state: "rewarded", close_reason: reason, is_charged: true });
    await fixture.report(view, { reports: claims(10), closed: "tap" });
    expect(await fixture.earned()).toEqual([event]);
    expect((await fixture.milestones()).filter((milestone) => milestone === "close")).toHaveLength(1);
  });

  test.each([
    { close: undefined, state: "watched" },
    { close: "tap" as const, state: "rewarded" },
  ])(
    "whose first call comes late and brings all of it, with the close $close, is charged its price",
    async ({ close, state }) => {
      const view = await fixture.beginAd();
      fixture.advance(6);
      const { body } = await fixture.report(view, {
        started: true,
        reports: claims(6),
        ...(close && { closed: close }),
      });
      expect(body).toMatchObject({ state });
      expect(await fixture.earned()).toMatchObject(once);
      expect((await fixture.openAd()).body).toMatchObject({ outcome: "limit-reached", reason: "cooldown" });
    },
  );

  test("a rewarded view whose only call brings all of it is charged its price", async () => {
    const view = await fixture.begin(ann);
    fixture.advance(11);
    const { body } = await fixture.report(view, { started: true, reports: claims(10), closed: "tap" });
    expect(body).toMatchObject({ state: "rewarded" });
    expect(await fixture.earned()).toMatchObject([{ event: "rewarded", price_micros: 2500 }]);
  });

  describe("that looks suspicious", () => {
    async function watchBlindly(setting: "pay" | "hold" | "refuse") {
      await fixture.setBot(`suspicious_views = '${setting}'`);
      const view = await fixture.beginAd();
      await fixture.report(view, { started: true });
      for (let second = 0; second < 6; second++) {
        fixture.advance(1);
        await fixture.report(view, { reports: [{ ...playedRange(second, second), rendered_frames: 0 }] });
      }
      return view;
    }
    const suspicions = async (view: Opened) =>
      (
        await fixture.run<{ suspicions: string[] }>("select suspicions from views where view_id = $1", view.session_id)
      )[0]?.suspicions;

    test("is charged and marked where the bot pays", async () => {
      const view = await watchBlindly("pay");
      expect(await fixture.earned()).toMatchObject(once);
      // A later change of the bot's setting does not reverse the charge.
      await fixture.setBot("suspicious_views = 'refuse'");
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      expect(await suspicions(view)).toContain("no-frames");
      expect(await fixture.earned()).toMatchObject(once);
    });

    test("is held for review, and charged once when it is released", async () => {
      const view = await watchBlindly("hold");
      expect(await fixture.earned()).toEqual([]);
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "watched", review: "held" });
      expect(await suspicions(view)).toContain("no-frames");
      const decision = { botId: fixture.botId, viewId: view.session_id, now: fixture.clock.now };
      const release = (place: number) =>
        releaseView(store.database, { ...decision, eventId: `evt_${fixture.botId}${place}` });
      const outcomes = await Promise.all([release(1), release(2), refuseView(store.database, decision)]);
      expect(outcomes.filter(({ outcome }) => outcome !== "not-held")).toHaveLength(1);
      const isReleased = outcomes.some(({ outcome }) => outcome === "released");
      expect(await fixture.earned()).toMatchObject(isReleased ? once : []);
      expect(await fixture.viewers()).toMatchObject([{ user_id: ann, earned_today: 0 }]);
    });

    test("is held when its page vanishes, and refused for good by the operator", async () => {
      const view = await watchBlindly("hold");
      fixture.advance(16);
      await sweep();
      const decision = { botId: fixture.botId, viewId: view.session_id, now: fixture.clock.now };
      expect(await refuseView(store.database, decision)).toEqual({ outcome: "refused" });
      expect(await releaseView(store.database, { ...decision, eventId: "evt_never" })).toMatchObject({
        outcome: "not-held",
      });
      expect(await fixture.earned()).toEqual([]);
    });

    test("is refused where the bot refuses", async () => {
      const view = await watchBlindly("refuse");
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ review: "refused" });
      expect(await fixture.earned()).toEqual([]);
    });
  });
});

describe("a linear ad of a VAST tag as interstitial", () => {
  let store: TestDatabase;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    return () => store.dispose();
  });

  test.each([
    { seconds: 6, events: ["impression", "creativeView", "start", "firstQuartile", "midpoint", "skip", "closeLinear"] },
    {
      seconds: 10,
      events: [
        "impression",
        "creativeView",
        "start",
        "firstQuartile",
        "midpoint",
        "thirdQuartile",
        "complete",
        "closeLinear",
      ],
    },
  ])("left after $seconds s, is charged once and calls $events once each", async ({ seconds, events }) => {
    const fixture = await withInterstitials(await openVastFixture(store.database));
    try {
      const tag = inline().replace(
        '<Tracking event="complete">',
        '<Tracking event="skip"><![CDATA[{self}/inline/skip]]></Tracking><Tracking event="complete">',
      );
      const ads = await startAdServer({ "/tag": tag });
      const campaignId = await fixture.sellTag(`${ads.address}/tag`, {
        formats: ["interstitial"],
        viewPriceMicros: 700,
        skipAfterSeconds: 3,
        chargedAfterSeconds: 5,
      });
      const opened = await fixture.openAd();
      expect(opened.body).toMatchObject({ skip_after_ms: 3000, ad: { media_url: `${ads.address}/ad.mp4` } });
      const view = opened.body as unknown as Opened;
      await fixture.play(view, 0, 5);
      const charged = [{ event: "interstitial", price_micros: 700 }];
      expect(await fixture.earned()).toMatchObject(charged);
      for (let second = 5; second < seconds; second++) {
        fixture.advance(1);
        await fixture.report(view, { reports: [playedRange(view.first_sequence + second, second)] });
      }
      await Promise.all([fixture.report(view, { closed: "tap" }), fixture.report(view, { closed: "tap" })]);
      expect(await fixture.earned()).toMatchObject(charged);
      expect(await fixture.charges()).toMatchObject([{ campaign_id: campaignId }]);
      for (let round = 0; round < 3; round++) await fixture.callTrackers();
      const called = ads.calls.map(({ path }) => path.replace("/inline/", "")).filter((path) => path !== "/tag");
      expect(called.toSorted()).toEqual(events.toSorted());
    } finally {
      await fixture.close();
    }
  });

  test("a tag without a linear ad fills none", async () => {
    const fixture = await withInterstitials(await openVastFixture(store.database));
    try {
      const nonLinear = vast(
        `<Ad><InLine><AdSystem>x</AdSystem><AdTitle>x</AdTitle><Impression><![CDATA[{self}/impression]]></Impression><Creatives><Creative><NonLinearAds><NonLinear width="300" height="50"><StaticResource creativeType="image/png"><![CDATA[{self}/banner.png]]></StaticResource></NonLinear></NonLinearAds></Creative></Creatives></InLine></Ad>`,
      );
      const ads = await startAdServer({ "/tag": nonLinear });
      await fixture.sellTag(`${ads.address}/tag`, { formats: ["interstitial"] });
      const opened = await fixture.openAd();
      // The campaign of a video fills it.
      expect(opened.body).toMatchObject({ outcome: "session", ad: { media_url: expect.stringContaining("ab.mp4") } });
      expect(ads.callsOf("/tag")).toHaveLength(1);
      expect(ads.callsOf("/impression")).toEqual([]);
    } finally {
      await fixture.close();
    }
  });
});
