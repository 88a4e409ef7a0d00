import { randomBytes } from "node:crypto";
import { statement } from "@intermission/postgres/open-database";
import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdTables } from "./ad-database.ts";
import { sessionRoutes } from "./ad-sessions/routes.ts";
import { type Opened, openSessionStage, type SessionStage, stretch, wholeVideo } from "./ad-sessions/session-stage.ts";
import { sweepSessions } from "./ad-sessions/sweep-sessions.ts";
import { directLinkRoutes } from "./direct-links/routes.ts";
import { personAgents } from "./direct-links/visitor-agents.ts";
import { migrations } from "./migrations.ts";

const ann = "501";
const closing = { closed: "tap" as const };

const addLinkCampaign = statement<never>(
  "test.link-campaign",
  `with shop as (insert into advertisers (name, name_key) values ('Shop', 'shop') on conflict do nothing)
   insert into campaigns (campaign_id, name, advertiser, formats, landing_url, click_price_micros)
   values ('cmp_link', 'Link', 'Shop', '{direct_link}', 'https://shop.test/', 1500) on conflict do nothing`,
);

/** One rule for what a bot's user may earn, whichever way it is earned. */
describe.each(testDatabases())("cooldown, cap and clock of one viewer, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
    await store.database.run(addLinkCampaign, []);
  });
  afterAll(() => store.dispose());

  async function onStage(
    settings: { cooldownSeconds?: number; dailyCap?: number },
    work: (stage: SessionStage) => Promise<void>,
  ): Promise<void> {
    const mount: Parameters<typeof openSessionStage>[1] = (app, deps) => {
      sessionRoutes(app, deps);
      directLinkRoutes(app, { ...deps, encryptionKey: randomBytes(32) });
    };
    const stage = await openSessionStage(store.database, mount, settings);
    try {
      await work(stage);
    } finally {
      await stage.close();
    }
  }

  const follow = async (stage: SessionStage, code: string): Promise<number> => {
    const headers = { "user-agent": personAgents[0] ?? "", "accept-language": "en" };
    const { status } = await fetch(`${stage.address}/${code}`, { headers, redirect: "manual" });
    return status;
  };
  const sweep = (stage: SessionStage) =>
    sweepSessions(stage.views, { listeningSince: new Date(0), now: stage.clock.now });

  describe("an offer that was opened and not started holds nothing", () => {
    test.each([
      { name: "a daily cap of 1", settings: { dailyCap: 1 }, reason: "daily-cap" },
      { name: "a cooldown of an hour", settings: { cooldownSeconds: 3600 }, reason: "cooldown" },
    ])("followed elsewhere meanwhile, it does not start: $name", ({ settings, reason }) =>
      onStage(settings, async (stage) => {
        const code = await stage.issue(ann, "a");
        const offer = await stage.begin(ann, code);
        expect(await follow(stage, await stage.issue(ann, "b"))).toBe(302);
        stage.advance(1);
        expect(await stage.report(offer, { started: true })).toMatchObject({
          status: 409,
          body: { error: { code: "LIMIT_REACHED", details: { reason, available_at: expect.any(String) } } },
        });
        stage.advance(10);
        await stage.report(offer, { started: true, reports: wholeVideo(), ...closing });
        expect((await stage.open(ann, code)).body).toMatchObject({ outcome: "limit-reached", reason });
        expect((await stage.events()).map(({ event }) => event)).toEqual(["direct_link"]);
        expect(await stage.charges()).toHaveLength(1);
        expect(await stage.sessions()).toMatchObject([{ state: "opened" }]);
      }),
    );

    test("its own link, followed before it starts, counts as well: one event within the cooldown, one charge", () =>
      onStage({ cooldownSeconds: 3600 }, async (stage) => {
        const code = await stage.issue(ann);
        const offer = await stage.begin(ann, code);
        expect(await follow(stage, code)).toBe(302);
        await stage.report(offer, { started: true });
        stage.advance(10);
        await stage.report(offer, { reports: wholeVideo(), ...closing });
        expect(await stage.events()).toHaveLength(1);
        expect(await stage.charges()).toHaveLength(1);
      }));

    test("it starts once the cooldown is over, and is paid", () =>
      onStage({ cooldownSeconds: 60 }, async (stage) => {
        const offer = await stage.begin(ann, await stage.issue(ann, "a"));
        await follow(stage, await stage.issue(ann, "b"));
        stage.advance(60);
        await stage.play(offer, 0, 10);
        expect((await stage.report(offer, closing)).body).toMatchObject({ state: "rewarded" });
        expect(await stage.events()).toHaveLength(2);
      }));
  });

  describe("rewards are never closer than the cooldown", () => {
    /** A view that stood still for longer than the cooldown does not keep its viewer from earning elsewhere. */
    async function earnWhilePaused(stage: SessionStage, pauseSeconds: number): Promise<Opened> {
      const paused = await stage.begin(ann, await stage.issue(ann, "paused"));
      await stage.play(paused, 0, 8);
      stage.advance(pauseSeconds);
      expect(await follow(stage, await stage.issue(ann, "other"))).toBe(302);
      stage.advance(2);
      return paused;
    }
    const end = { reports: [stretch(8, 8), stretch(9, 9)], ...closing };

    test("a view that ends within it waits, and is paid the moment it is over", () =>
      onStage({ cooldownSeconds: 30 }, async (stage) => {
        const paused = await earnWhilePaused(stage, 31);
        expect((await stage.report(paused, end)).body).toMatchObject({ state: "watched" });
        stage.advance(27.999);
        await sweep(stage);
        expect(await stage.events()).toHaveLength(1);
        stage.advance(0.001);
        await Promise.all([sweep(stage), sweep(stage)]);
        expect(await stage.events()).toHaveLength(2);
        expect(await stage.charges()).toHaveLength(2);
        expect(await stage.sessions()).toMatchObject([{ state: "rewarded", close_reason: "tap" }]);
        expect(await stage.viewers()).toMatchObject([{ earned_today: 2 }]);
      }));

    test("closed again, opened again and silent meanwhile, it is paid once and not sooner", () =>
      onStage({ cooldownSeconds: 30 }, async (stage) => {
        const paused = await earnWhilePaused(stage, 31);
        await stage.report(paused, end);
        await stage.report(paused, closing);
        stage.advance(16);
        await sweep(stage);
        expect((await stage.open(ann, await stage.issue(ann, "paused"))).body).toMatchObject({ state: "watched" });
        await sweep(stage);
        expect(await stage.events()).toHaveLength(1);
        stage.advance(14);
        await sweep(stage);
        await sweep(stage);
        expect(await stage.events()).toHaveLength(2);
      }));

    test("where the cooldown outlasts the session it earns nothing, and the publisher reads why", () =>
      onStage({ cooldownSeconds: 30 }, async (stage) => {
        const paused = await earnWhilePaused(stage, 31);
        const bot = stage.database.query.updateTable("bots").where("bot_id", "=", stage.botId);
        await bot.set({ cooldown_seconds: 2 * 3600 }).execute();
        expect((await stage.report(paused, end)).body).toMatchObject({ state: "watched", review: "refused" });
        expect(await stage.sessions()).toMatchObject([{ state: "refused", progress: { refusals: { cooldown: 1 } } }]);
        expect((await stage.events()).map(({ event }) => event)).toEqual(["direct_link"]);
        expect(await stage.charges()).toHaveLength(1);
      }));

    test("two views that are closed at once under a cooldown of 3 s are paid 3 s apart at least", () =>
      onStage({ cooldownSeconds: 3 }, async (stage) => {
        const sessions: Opened[] = [];
        for (const reference of ["a", "b"]) {
          const session = await stage.begin(ann, await stage.issue(ann, reference));
          await stage.report(session, { started: true });
          sessions.push(session);
          stage.advance(3);
        }
        for (let second = 0; second < 20; second++) {
          stage.advance(1);
          for (const session of sessions) await stage.report(session, { reports: wholeVideo() });
        }
        expect(await stage.sessions()).toMatchObject([{ state: "watched" }, { state: "watched" }]);
        await Promise.all(sessions.map((session) => stage.report(session, closing)));
        for (let second = 0; second < 5; second++) {
          await sweep(stage);
          stage.advance(1);
        }
        const paid = (await stage.events()).map(({ body }) => Date.parse(JSON.parse(body).occurred_at)).toSorted();
        expect(paid).toHaveLength(2);
        expect((paid[1] ?? 0) - (paid[0] ?? 0)).toBeGreaterThanOrEqual(3000);
      }));
  });

  describe("time counts for one view of a viewer at a time", () => {
    async function startViews(stage: SessionStage, count: number): Promise<Opened[]> {
      const sessions: Opened[] = [];
      for (let index = 0; index < count; index++) {
        const session = await stage.begin(ann, await stage.issue(ann, `view-${index}`));
        await stage.report(session, { started: true });
        sessions.push(session);
      }
      return sessions;
    }

    test("five 10 s ads at once are paid in no less than five times 9 s", () =>
      onStage({}, async (stage) => {
        const sessions = await startViews(stage, 5);
        const paidAfter: number[] = [];
        for (let second = 1; second <= 60; second++) {
          stage.advance(1);
          await Promise.all(sessions.map((session) => stage.report(session, { reports: wholeVideo(), ...closing })));
          await sweep(stage);
          while (paidAfter.length < (await stage.events()).length) paidAfter.push(second);
        }
        expect(paidAfter).toHaveLength(5);
        for (const [index, second] of paidAfter.entries()) expect(second).toBeGreaterThanOrEqual((index + 1) * 9);
      }));

    test("a second view begun after the first was watched is paid like any other", () =>
      onStage({}, async (stage) => {
        for (const reference of ["a", "b"]) {
          const session = await stage.begin(ann, await stage.issue(ann, reference));
          await stage.play(session, 0, 10);
          expect((await stage.report(session, closing)).body).toMatchObject({ state: "rewarded" });
        }
      }));

    test("views of two viewers count side by side", () =>
      onStage({}, async (stage) => {
        const sessions = [];
        for (const user of ["601", "602"]) sessions.push(await stage.begin(user, await stage.issue(user)));
        for (const session of sessions) await stage.report(session, { started: true });
        stage.advance(10);
        for (const session of sessions) await stage.report(session, { reports: wholeVideo(), ...closing });
        expect(await stage.events()).toHaveLength(2);
      }));

    test("no order of calls earns views faster than real time", { timeout: 120_000 }, async () => {
      const step = fc.record({
        view: fc.nat({ max: 3 }),
        seconds: fc.constantFrom(0, 0, 0.3, 1, 2.5, 7),
        from: fc.nat({ max: 9 }),
        closes: fc.boolean(),
        sweeps: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), (steps) =>
          onStage({}, async (stage) => {
            const sessions = await startViews(stage, 4);
            const startedAt = stage.clock.now.getTime();
            for (const { view, seconds, from, closes, sweeps } of steps) {
              stage.advance(seconds);
              const session = sessions[view];
              if (session) await stage.report(session, { reports: wholeVideo().slice(from), ...(closes && closing) });
              if (sweeps) await sweep(stage);
              const elapsedSeconds = (stage.clock.now.getTime() - startedAt) / 1000;
              expect((await stage.events()).length * 9).toBeLessThanOrEqual(elapsedSeconds);
            }
          }),
        ),
        { numRuns: 12 },
      );
    });
  });
});
