import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const ann = "501";
const bob = "502";
const minutes = 60;
const day = 24 * 3600;

describe("launch data of an app that was kept open", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  function onFixture(work: (fixture: ViewFixture) => Promise<void>, lifetimeSeconds = day) {
    return async () => {
      const fixture = await openViewFixture(store.database, viewPlayerRoutes);
      try {
        const text = "update bots set code_lifetime_seconds = $2 where bot_id = $1";
        await store.database.run({ name: "", text }, [fixture.botId, lifetimeSeconds]);
        await work(fixture);
      } finally {
        await fixture.close();
      }
    };
  }

  const reopen = (fixture: ViewFixture, initData: string, more: object = {}) =>
    fixture.post("/sessions", { bot_id: fixture.botId, init_data: initData, ...more });
  const expired = { status: 401, body: { error: { code: "INIT_DATA_EXPIRED" } } };

  test(
    "launch data that is 70 minutes old continues the view that the user began with it, and the view is paid",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann);
      const code = await fixture.issue(ann);
      const begun = await fixture.begin(ann, code);
      await fixture.play(begun, 0, 4);
      fixture.advance(70 * minutes);
      for (const launch of [{ code }, {}]) {
        const answer = await reopen(fixture, initData, launch);
        expect(answer).toMatchObject({ status: 200, body: { outcome: "session", code, resume_at_ms: 4000 } });
        if ("code" in launch) continue;
        const again = answer.body as unknown as typeof begun;
        expect(again.session_id).toBe(begun.session_id);
        await fixture.play(again, 4, 10);
        expect((await fixture.report(again, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      }
      expect(await fixture.events()).toMatchObject([{ event: "rewarded", user_id: ann, code }]);
      // The outcome of the view is shown and is not earned again.
      expect((await reopen(fixture, initData)).body).toMatchObject({ code, state: "rewarded" });
      expect(await fixture.events()).toHaveLength(1);
    }),
  );

  test(
    "an offer that was not started yet can be watched with launch data that is 70 minutes old",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann);
      const offered = (await reopen(fixture, initData)).body;
      fixture.advance(70 * minutes);
      expect((await reopen(fixture, initData)).body).toMatchObject({ outcome: "session", code: offered.code });
    }),
  );

  test(
    "launch data that is 70 minutes old begins no view and issues no code; the refusal links back to the bot",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann);
      const unopened = await fixture.issue(ann);
      fixture.advance(70 * minutes);
      const codesBefore = await codesOf(fixture);
      const link = { error: { code: "INIT_DATA_EXPIRED", details: { bot_link: "https://t.me/test_bot" } } };
      for (const launch of [{ code: unopened }, {}, { another: true }])
        expect(await reopen(fixture, initData, launch)).toMatchObject({ status: 401, body: link });
      expect(await fixture.storedViews()).toEqual([]);
      expect(await codesOf(fixture)).toBe(codesBefore);
    }),
  );

  test(
    "replayed launch data reaches neither another user's view nor another ad",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann);
      const ofBob = await fixture.issue(bob);
      await fixture.play(await fixture.begin(bob, ofBob), 0, 2);
      await fixture.play(await fixture.begin(ann), 0, 2);
      fixture.advance(70 * minutes);
      expect(await reopen(fixture, initData, { code: ofBob })).toMatchObject({ status: 403 });
      expect(await reopen(fixture, initData, { another: true })).toMatchObject(expired);
      expect(await fixture.storedViews()).toHaveLength(2);
    }),
  );

  test(
    "launch data older than a day, and stale launch data that is not Telegram's, cannot continue a view",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann);
      const code = await fixture.issue(ann);
      await fixture.play(await fixture.begin(ann, code), 0, 2);
      fixture.advance(day - 2);
      // Exactly one day old: the last second that is accepted.
      expect((await reopen(fixture, initData, { code })).status).toBe(200);
      fixture.advance(1);
      expect(await reopen(fixture, initData, { code })).toMatchObject(expired);
      const forged = fixture.initData(ann, { secondsAgo: 70 * minutes }).replace("501", "502");
      const unsigned = { status: 401, body: { error: { code: "INIT_DATA_INVALID" } } };
      expect(await reopen(fixture, forged, { code })).toMatchObject(unsigned);
    }),
  );

  test(
    "stale launch data does not continue a view after its deadline",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann);
      const code = await fixture.issue(ann);
      await fixture.play(await fixture.begin(ann, code), 0, 2);
      fixture.advance(71 * minutes);
      const over = { status: 410, body: { error: { code: "CODE_EXPIRED" } } };
      expect(await reopen(fixture, initData, { code })).toMatchObject(over);
      expect(await reopen(fixture, initData)).toMatchObject(expired);
    }, 3600),
  );
});

async function codesOf(fixture: ViewFixture): Promise<number> {
  const text = "select code from codes where bot_id = $1";
  return (await fixture.database.run({ name: "", text }, [fixture.botId])).length;
}
