import { randomBytes } from "node:crypto";
import { newEventId } from "@intermission/ad-core/code";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClicks } from "../src/clicks/follow-direct-link.ts";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { canEarn, describeCode } from "../src/codes/describe-code.ts";
import { migrations } from "../src/migrations.ts";
import { listClicks } from "../src/reviews/list-clicks.ts";
import { releaseClick } from "../src/reviews/review-clicks.ts";
import { releaseView } from "../src/reviews/review-views.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { openViewFixture, type ViewFixture, wholeVideo } from "./fixtures/view-fixture.ts";

const ann = "501";

const addLinkCampaign = statement<never>(
  "test.link-campaign",
  `with shop as (insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop') on conflict do nothing)
   insert into campaigns (campaign_id, name, advertiser_id, formats, landing_url, click_price_micros)
   values ('cmp_link', 'Link', 'adv_shop', '{direct_link}', 'https://shop.test/', 1500) on conflict do nothing`,
);

/** Played, and suspicious. */
const framelessVideo = () => wholeVideo().map((report) => ({ ...report, rendered_frames: 0 }));

describe("what a code earns", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await store.database.run(addLinkCampaign, []);
  });
  afterAll(() => store.dispose());

  async function onFixture(
    { suspiciousClicks = "pay", suspiciousViews = "pay", payPerCode = "once" },
    work: (fixture: ViewFixture) => Promise<void>,
  ): Promise<void> {
    const mount: Parameters<typeof openViewFixture>[1] = (app, deps) => {
      viewPlayerRoutes(app, deps);
      directLinkRoutes(app, { clicks: openClicks(deps), encryptionKey: randomBytes(32), now: deps.now });
    };
    const fixture = await openViewFixture(store.database, mount);
    const text = "update bots set pay_per_code = $2, suspicious_clicks = $3, suspicious_views = $4 where bot_id = $1";
    await store.database.run({ name: "", text }, [fixture.botId, payPerCode, suspiciousClicks, suspiciousViews]);
    try {
      await work(fixture);
    } finally {
      await fixture.close();
    }
  }

  let latestAddress = 0;
  const follow = async (fixture: ViewFixture, code: string): Promise<number> => {
    const address = `198.51.${++latestAddress >> 8}.${latestAddress & 255}`;
    const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en", "x-forwarded-for": address };
    fixture.advance(2);
    const { status } = await fetch(`${fixture.address}/${code}`, { headers, redirect: "manual" });
    return status;
  };
  const watch = async (fixture: ViewFixture, view: Awaited<ReturnType<ViewFixture["begin"]>>) => {
    await fixture.play(view, 0, 10);
    return (await fixture.report(view, { closed: "tap" })).body;
  };
  const earnedOf = async (fixture: ViewFixture) =>
    (await fixture.events()).map(({ event, code }) => [event, code]).sort();
  const canEarnOf = async (fixture: ViewFixture, code: string, payPerCode: "once" | "each") => {
    const described = await describeCode(store.database, { botId: fixture.botId, code, now: fixture.clock.now });
    return described.outcome === "found" ? canEarn(described.code, payPerCode) : described.outcome;
  };

  test("a code whose link was paid opens an ad with another code, which is paid", () =>
    onFixture({}, async (fixture) => {
      const code = await fixture.issue(ann, "order-7");
      expect(await canEarnOf(fixture, code, "once")).toEqual(["rewarded", "direct_link"]);
      expect(await follow(fixture, code)).toBe(302);
      expect(await canEarnOf(fixture, code, "once")).toEqual([]);
      const { body } = await fixture.open(ann, code);
      expect(body).toMatchObject({ outcome: "session", state: "opened" });
      expect(body.code).not.toBe(code);
      expect(await watch(fixture, body as never)).toMatchObject({ state: "rewarded" });
      expect(await earnedOf(fixture)).toEqual([
        ["direct_link", code],
        ["rewarded", body.code],
      ]);
      expect(
        JSON.parse((await fixture.events()).find(({ event }) => event === "rewarded")?.body ?? ""),
      ).not.toHaveProperty("reference");
    }));

  test.each(["opened", "playing", "watched"])(
    "a link that is followed while its ad is %s leaves the view its own reward, under a code of its own",
    (state) =>
      onFixture({}, async (fixture) => {
        const code = await fixture.issue(ann, "order-8");
        const view = await fixture.begin(ann, code);
        const seconds = { opened: 0, playing: 4, watched: 10 }[state] ?? 0;
        if (seconds > 0) await fixture.play(view, 0, seconds);
        expect(await follow(fixture, code)).toBe(302);
        if (seconds === 0) await fixture.play(view, 0, 10);
        else {
          for (let second = seconds; second < 10; second++) {
            fixture.advance(1);
            const range = { sequence: second, from_ms: second * 1000, to_ms: (second + 1) * 1000 };
            await fixture.report(view, { reports: [{ ...range, visible: true, muted: true }] });
          }
        }
        expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
        const { body } = await fixture.status(view);
        expect(body.code).not.toBe(code);
        expect(body.event).toBeDefined();
        expect(await earnedOf(fixture)).toEqual([
          ["direct_link", code],
          ["rewarded", body.code],
        ]);
        expect(await fixture.charges()).toHaveLength(2);
        expect(
          await describeCode(store.database, { botId: fixture.botId, code: String(body.code), now: fixture.clock.now }),
        ).toMatchObject({
          outcome: "found",
          code: { userId: ann, views: [{ state: "rewarded" }] },
        });
      }),
  );

  test("the code of its own is of the week of the view's id, also if the link is followed in the next week", () =>
    onFixture({}, async (fixture) => {
      // A Sunday.
      fixture.clock.now = new Date("2026-03-01T23:55:00Z");
      const code = await fixture.issue(ann);
      const view = await fixture.begin(ann, code);
      await fixture.play(view, 0, 4);
      fixture.advance(600);
      expect(await follow(fixture, code)).toBe(302);
      const { body } = await fixture.status(view);
      expect(body.code).not.toBe(code);
      expect(view.session_id.startsWith(`${fixture.botId}-${String(body.code).slice(0, 2)}`)).toBe(true);
    }));

  test("the old button leads back to a view that its link left behind", () =>
    onFixture({}, async (fixture) => {
      const code = await fixture.issue(ann);
      const view = await fixture.begin(ann, code);
      await fixture.play(view, 0, 4);
      await follow(fixture, code);
      const { body } = await fixture.open(ann, code);
      expect(body).toMatchObject({ session_id: view.session_id, state: "playing", accepted_ms: 4000 });
    }));

  test("the link of a code whose view was paid still leads to its ad, as the publisher's ledger decides what it pays", () =>
    onFixture({}, async (fixture) => {
      const code = await fixture.issue(ann);
      expect(await watch(fixture, await fixture.begin(ann, code))).toMatchObject({ state: "rewarded" });
      expect(await canEarnOf(fixture, code, "once")).toEqual([]);
      expect(await follow(fixture, code)).toBe(302);
      expect(await earnedOf(fixture)).toEqual([
        ["direct_link", code],
        ["rewarded", code],
      ]);
    }));

  test("a view and a click at the same moment are both recorded, once each", () =>
    onFixture({}, async (fixture) => {
      const node = await fixture.startNode();
      for (let round = 0; round < 10; round++) {
        const user = String(7000 + round);
        const code = await fixture.issue(user);
        const view = await fixture.begin(user, code);
        await fixture.play(view, 0, 10);
        const [closed, followed] = await Promise.all([
          fixture.report(view, { closed: "tap" }, round % 2 ? node : undefined),
          follow(fixture, code),
        ]);
        expect(closed.body).toMatchObject({ state: "rewarded" });
        expect(followed).toBe(302);
        const earned = (await fixture.events()).filter(({ user_id: of }) => of === user);
        expect(earned.map(({ event }) => event).sort()).toEqual(["direct_link", "rewarded"]);
        expect(earned.find(({ event }) => event === "direct_link")).toMatchObject({ code });
      }
    }));

  test("a held click spends its code, too, and can still be released", () =>
    onFixture({ suspiciousClicks: "hold" }, async (fixture) => {
      const code = await fixture.issue(ann);
      // Within a second of the code, which looks suspicious.
      fixture.advance(-2);
      expect(await follow(fixture, code)).toBe(302);
      const [click] = (await listClicks(store.database, { botId: fixture.botId, state: "held", limit: 10 })).rows;
      expect(click).toMatchObject({ code });
      expect(await canEarnOf(fixture, code, "once")).toEqual([]);
      const { body } = await fixture.open(ann, code);
      expect(body.code).not.toBe(code);
      expect(await watch(fixture, body as never)).toMatchObject({ state: "rewarded" });
      expect(
        await releaseClick(
          { database: store.database, makePartitions: async () => {} },
          { clickId: click?.clickId ?? "", now: fixture.clock.now },
        ),
      ).toMatchObject({
        outcome: "released",
      });
      expect(await earnedOf(fixture)).toEqual([
        ["direct_link", code],
        ["rewarded", body.code],
      ]);
    }));

  test("a link that is followed while its view is held for review leaves the view its own reward", () =>
    onFixture({ suspiciousViews: "hold" }, async (fixture) => {
      const code = await fixture.issue(ann, "order-9");
      const view = await fixture.begin(ann, code);
      await fixture.report(view, { started: true });
      fixture.advance(10);
      expect((await fixture.report(view, { reports: framelessVideo(), closed: "tap" })).body).toMatchObject({
        review: "held",
      });
      expect(await follow(fixture, code)).toBe(302);
      const released = await releaseView(store.database, {
        botId: fixture.botId,
        viewId: view.session_id,
        eventId: newEventId(fixture.clock.now.getTime(), randomBytes(10)),
        now: fixture.clock.now,
      });
      expect(released).toMatchObject({ outcome: "released" });
      const { body } = await fixture.status(view);
      expect(body.code).not.toBe(code);
      expect(await earnedOf(fixture)).toEqual([
        ["direct_link", code],
        ["rewarded", body.code],
      ]);
    }));

  test("a bot that pays each has one view and one click of a code, in any order", () =>
    onFixture({ payPerCode: "each" }, async (fixture) => {
      const [first, second] = [await fixture.issue(ann, "a"), await fixture.issue(ann, "b")];
      expect(await follow(fixture, first)).toBe(302);
      expect(await canEarnOf(fixture, first, "each")).toEqual(["rewarded"]);
      const view = await fixture.begin(ann, first);
      expect(await watch(fixture, view)).toMatchObject({ state: "rewarded" });
      await watch(fixture, await fixture.begin(ann, second));
      expect(await follow(fixture, second)).toBe(302);
      expect(await earnedOf(fixture)).toEqual(
        [
          ["direct_link", first],
          ["direct_link", second],
          ["rewarded", first],
          ["rewarded", second],
        ].sort(),
      );
    }));

  test.each([
    ["hold", "held"],
    ["refuse", "refused"],
  ])("of a bot that would %s a suspicious view, the player learns it before it tells the viewer", (setting, review) =>
    onFixture({ suspiciousViews: setting }, async (fixture) => {
      const view = await fixture.begin(ann, await fixture.issue(ann));
      await fixture.report(view, { started: true });
      fixture.advance(10);
      expect((await fixture.report(view, { reports: framelessVideo() })).body).toMatchObject({
        state: "watched",
        review,
      });
      expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "watched", review });
    }),
  );
});
