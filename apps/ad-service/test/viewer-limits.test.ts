import { randomBytes } from "node:crypto";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { personAgents } from "@intermission/testing/visitor-agents";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openClicks } from "../src/clicks/follow-direct-link.ts";
import { directLinkRoutes } from "../src/clicks/routes.ts";
import { migrations } from "../src/migrations.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { sweepViews } from "../src/views/sweep-views.ts";
import { type Opened, openViewFixture, playedRange, type ViewFixture, wholeVideo } from "./fixtures/view-fixture.ts";

const ann = "501";
const closing = { closed: "tap" as const };

const addLinkCampaign = statement<never>(
  "test.link-campaign",
  `with shop as (insert into advertisers (advertiser_id, name, name_key) values ('adv_shop', 'Shop', 'shop') on conflict do nothing)
   insert into campaigns (campaign_id, name, advertiser_id, formats, landing_url, click_price_micros)
   values ('cmp_link', 'Link', 'adv_shop', '{direct_link}', 'https://shop.test/', 1500) on conflict do nothing`,
);

/** The same rule limits a user's earnings in a bot for views and for clicks. */
describe("cooldown, cap and clock of one viewer", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    await store.database.run(addLinkCampaign, []);
  });
  afterAll(() => store.dispose());

  async function onFixture(
    settings: { cooldownSeconds?: number; dailyCap?: number },
    work: (fixture: ViewFixture) => Promise<void>,
  ): Promise<void> {
    const mount: Parameters<typeof openViewFixture>[1] = (app, deps) => {
      viewPlayerRoutes(app, deps);
      directLinkRoutes(app, { clicks: openClicks(deps), encryptionKey: randomBytes(32), now: deps.now });
    };
    const fixture = await openViewFixture(store.database, mount, settings);
    try {
      await work(fixture);
    } finally {
      await fixture.close();
    }
  }

  const follow = async (fixture: ViewFixture, code: string): Promise<number> => {
    const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en" };
    const { status } = await fetch(`${fixture.address}/${code}`, { headers, redirect: "manual" });
    return status;
  };
  const sweep = (fixture: ViewFixture) =>
    sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });

  describe("an offer that was opened and not started reserves nothing", () => {
    test.each([
      { name: "a daily cap of 1", settings: { dailyCap: 1 }, reason: "daily-cap" },
      { name: "a cooldown of an hour", settings: { cooldownSeconds: 3600 }, reason: "cooldown" },
    ])("it does not start after its user earned by another link meanwhile: $name", ({ settings, reason }) =>
      onFixture(settings, async (fixture) => {
        const code = await fixture.issue(ann, "a");
        const offer = await fixture.begin(ann, code);
        expect(await follow(fixture, await fixture.issue(ann, "b"))).toBe(302);
        fixture.advance(1);
        expect(await fixture.report(offer, { started: true })).toMatchObject({
          status: 409,
          body: { error: { code: "LIMIT_REACHED", details: { reason, available_at: expect.any(String) } } },
        });
        fixture.advance(10);
        await fixture.report(offer, { started: true, reports: wholeVideo(), ...closing });
        expect((await fixture.open(ann, code)).body).toMatchObject({ outcome: "limit-reached", reason });
        expect((await fixture.events()).map(({ event }) => event)).toEqual(["direct_link"]);
        expect(await fixture.charges()).toHaveLength(1);
        expect(await fixture.storedViews()).toMatchObject([{ state: "opened" }]);
      }),
    );

    test("its own link, followed before it starts, counts as well: one event within the cooldown, one charge", () =>
      onFixture({ cooldownSeconds: 3600 }, async (fixture) => {
        const code = await fixture.issue(ann);
        const offer = await fixture.begin(ann, code);
        expect(await follow(fixture, code)).toBe(302);
        await fixture.report(offer, { started: true });
        fixture.advance(10);
        await fixture.report(offer, { reports: wholeVideo(), ...closing });
        expect(await fixture.events()).toHaveLength(1);
        expect(await fixture.charges()).toHaveLength(1);
      }));

    test("it starts once the cooldown is over, and is paid", () =>
      onFixture({ cooldownSeconds: 60 }, async (fixture) => {
        const offer = await fixture.begin(ann, await fixture.issue(ann, "a"));
        await follow(fixture, await fixture.issue(ann, "b"));
        fixture.advance(60);
        await fixture.play(offer, 0, 10);
        expect((await fixture.report(offer, closing)).body).toMatchObject({ state: "rewarded" });
        expect(await fixture.events()).toHaveLength(2);
      }));
  });

  describe("rewards are never closer together than the cooldown", () => {
    /** A view that pauses longer than the cooldown does not keep its viewer from earning elsewhere. */
    async function earnWhilePaused(fixture: ViewFixture, pauseSeconds: number): Promise<Opened> {
      const paused = await fixture.begin(ann, await fixture.issue(ann, "paused"));
      await fixture.play(paused, 0, 8);
      fixture.advance(pauseSeconds);
      expect(await follow(fixture, await fixture.issue(ann, "other"))).toBe(302);
      fixture.advance(2);
      return paused;
    }
    const end = { reports: [playedRange(8, 8), playedRange(9, 9)], ...closing };

    test("a view that ends within the cooldown waits, and is paid as soon as it is over", () =>
      onFixture({ cooldownSeconds: 30 }, async (fixture) => {
        const paused = await earnWhilePaused(fixture, 31);
        expect((await fixture.report(paused, end)).body).toMatchObject({ state: "watched" });
        fixture.advance(27.999);
        await sweep(fixture);
        expect(await fixture.events()).toHaveLength(1);
        fixture.advance(0.001);
        await Promise.all([sweep(fixture), sweep(fixture)]);
        expect(await fixture.events()).toHaveLength(2);
        expect(await fixture.charges()).toHaveLength(2);
        expect(await fixture.storedViews()).toMatchObject([{ state: "rewarded", close_reason: "tap" }]);
        expect(await fixture.viewers()).toMatchObject([{ earned_today: 2 }]);
      }));

    test("if it is closed again, opened again and silent meanwhile, it is paid once and not sooner", () =>
      onFixture({ cooldownSeconds: 30 }, async (fixture) => {
        const paused = await earnWhilePaused(fixture, 31);
        await fixture.report(paused, end);
        await fixture.report(paused, closing);
        fixture.advance(16);
        await sweep(fixture);
        expect((await fixture.open(ann, await fixture.issue(ann, "paused"))).body).toMatchObject({ state: "watched" });
        await sweep(fixture);
        expect(await fixture.events()).toHaveLength(1);
        fixture.advance(14);
        await sweep(fixture);
        await sweep(fixture);
        expect(await fixture.events()).toHaveLength(2);
      }));

    test("if the cooldown outlasts the view, it earns nothing, and the publisher reads the reason", () =>
      onFixture({ cooldownSeconds: 30 }, async (fixture) => {
        const paused = await earnWhilePaused(fixture, 31);
        const text = "update bots set cooldown_seconds = 7200 where bot_id = $1";
        await fixture.database.run({ name: "", text }, [fixture.botId]);
        expect((await fixture.report(paused, end)).body).toMatchObject({ state: "watched", review: "refused" });
        expect(await fixture.storedViews()).toMatchObject([
          { state: "refused", progress: { refusals: { cooldown: 1 } } },
        ]);
        expect((await fixture.events()).map(({ event }) => event)).toEqual(["direct_link"]);
        expect(await fixture.charges()).toHaveLength(1);
      }));

    describe("a view whose viewer was told that it is watched is paid after the limit, also when that is after its deadline", () => {
      async function watched(fixture: ViewFixture): Promise<{ code: string; view: Opened }> {
        const code = await fixture.issue(ann, "watched");
        const view = await fixture.begin(ann, code);
        await fixture.play(view, 0, 9);
        fixture.advance(1);
        const { body } = await fixture.report(view, { reports: [playedRange(9, 9)] });
        expect(body).toMatchObject({ state: "watched" });
        expect(body).not.toHaveProperty("review");
        return { code, view };
      }
      async function expectPaidAfter(fixture: ViewFixture, view: Opened, seconds: number): Promise<void> {
        const { body } = await fixture.report(view, closing);
        expect(body).toMatchObject({ state: "watched" });
        expect(body).not.toHaveProperty("review");
        fixture.advance(seconds - 1);
        await sweep(fixture);
        expect((await fixture.status(view)).body).toMatchObject({ state: "watched" });
        fixture.advance(1);
        await sweep(fixture);
        expect((await fixture.status(view)).body).toMatchObject({ state: "rewarded" });
        expect((await fixture.events()).map(({ event }) => event)).toContain("rewarded");
      }
      const set = async (fixture: ViewFixture, column: "cooldown_seconds" | "daily_cap", value: number) => {
        const text = `update bots set ${column} = $2 where bot_id = $1`;
        await fixture.database.run({ name: "", text }, [fixture.botId, value]);
      };

      test("its own link is followed before it is closed", () =>
        onFixture({ cooldownSeconds: 7200 }, async (fixture) => {
          const { code, view } = await watched(fixture);
          expect(await follow(fixture, code)).toBe(302);
          await expectPaidAfter(fixture, view, 7200);
        }));

      test("the cooldown is raised before it is closed", () =>
        onFixture({ cooldownSeconds: 0 }, async (fixture) => {
          expect(await follow(fixture, await fixture.issue(ann, "other"))).toBe(302);
          const { view } = await watched(fixture);
          await set(fixture, "cooldown_seconds", 86_400);
          await expectPaidAfter(fixture, view, 86_400 - 10);
        }));

      test("the day's last reward is taken by its own link", () =>
        onFixture({ dailyCap: 1 }, async (fixture) => {
          const { code, view } = await watched(fixture);
          expect(await follow(fixture, code)).toBe(302);
          const midnight = 86_400_000 - (fixture.clock.now.getTime() % 86_400_000);
          await expectPaidAfter(fixture, view, Math.ceil(midnight / 1000));
          expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
        }));
    });

    test("two views that are closed at the same time under a cooldown of 3 s are paid at least 3 s apart", () =>
      onFixture({ cooldownSeconds: 3 }, async (fixture) => {
        const views: Opened[] = [];
        for (const reference of ["a", "b"]) {
          const view = await fixture.begin(ann, await fixture.issue(ann, reference));
          await fixture.report(view, { started: true });
          views.push(view);
          fixture.advance(3);
        }
        for (let second = 0; second < 20; second++) {
          fixture.advance(1);
          for (const view of views) await fixture.report(view, { reports: wholeVideo() });
        }
        expect(await fixture.storedViews()).toMatchObject([{ state: "watched" }, { state: "watched" }]);
        await Promise.all(views.map((view) => fixture.report(view, closing)));
        for (let second = 0; second < 5; second++) {
          await sweep(fixture);
          fixture.advance(1);
        }
        const paid = (await fixture.events()).map(({ body }) => Date.parse(JSON.parse(body).occurred_at)).toSorted();
        expect(paid).toHaveLength(2);
        expect((paid[1] ?? 0) - (paid[0] ?? 0)).toBeGreaterThanOrEqual(3000);
      }));
  });

  describe("time counts for one view of a viewer at a time", () => {
    async function startViews(fixture: ViewFixture, count: number): Promise<Opened[]> {
      const views: Opened[] = [];
      for (let index = 0; index < count; index++) {
        const view = await fixture.begin(ann, await fixture.issue(ann, `view-${index}`));
        await fixture.report(view, { started: true });
        views.push(view);
      }
      return views;
    }

    test("five 10 s ads in parallel are paid in no less than five times 9 s", () =>
      onFixture({}, async (fixture) => {
        const views = await startViews(fixture, 5);
        const paidAfter: number[] = [];
        for (let second = 1; second <= 60; second++) {
          fixture.advance(1);
          const reported = views.map(async (view) => {
            const { body } = await fixture.report(view, { reports: wholeVideo() });
            if (body.state === "watched") await fixture.report(view, closing);
          });
          await Promise.all(reported);
          await sweep(fixture);
          while (paidAfter.length < (await fixture.events()).length) paidAfter.push(second);
        }
        expect(paidAfter).toHaveLength(5);
        for (const [index, second] of paidAfter.entries()) expect(second).toBeGreaterThanOrEqual((index + 1) * 9);
      }));

    test("a second view that begins after the first was watched is paid like any other", () =>
      onFixture({}, async (fixture) => {
        for (const reference of ["a", "b"]) {
          const view = await fixture.begin(ann, await fixture.issue(ann, reference));
          await fixture.play(view, 0, 10);
          expect((await fixture.report(view, closing)).body).toMatchObject({ state: "rewarded" });
        }
      }));

    test("views of two viewers count in parallel", () =>
      onFixture({}, async (fixture) => {
        const views = [];
        for (const user of ["601", "602"]) views.push(await fixture.begin(user, await fixture.issue(user)));
        for (const view of views) await fixture.report(view, { started: true });
        fixture.advance(10);
        for (const view of views) await fixture.report(view, { reports: wholeVideo(), ...closing });
        expect(await fixture.events()).toHaveLength(2);
      }));

    test("no order of calls earns views faster than real time", { tags: "long", timeout: 120_000 }, async () => {
      const step = fc.record({
        index: fc.nat({ max: 3 }),
        seconds: fc.constantFrom(0, 0, 0.3, 1, 2.5, 7),
        from: fc.nat({ max: 9 }),
        closes: fc.boolean(),
        sweeps: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), (steps) =>
          onFixture({}, async (fixture) => {
            const views = await startViews(fixture, 4);
            const startedAt = fixture.clock.now.getTime();
            for (const { index, seconds, from, closes, sweeps } of steps) {
              fixture.advance(seconds);
              const view = views[index];
              if (view) await fixture.report(view, { reports: wholeVideo().slice(from), ...(closes && closing) });
              if (sweeps) await sweep(fixture);
              const elapsedSeconds = (fixture.clock.now.getTime() - startedAt) / 1000;
              expect((await fixture.events()).length * 9).toBeLessThanOrEqual(elapsedSeconds);
            }
          }),
        ),
        { numRuns: 12 },
      );
    });
  });
});
