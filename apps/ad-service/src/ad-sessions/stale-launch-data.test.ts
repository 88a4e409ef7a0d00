import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { migrations } from "../migrations.ts";
import { sessionRoutes } from "./routes.ts";
import { openSessionStage, type SessionStage } from "./session-stage.ts";

const ann = "501";
const bob = "502";
const minutes = 60;
const day = 24 * 3600;

describe.each(testDatabases())("launch data of an app that was kept open, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  function onStage(work: (stage: SessionStage) => Promise<void>, lifetimeSeconds = day) {
    return async () => {
      const stage = await openSessionStage(store.database, sessionRoutes);
      try {
        const bot = stage.database.query.updateTable("bots").where("bot_id", "=", stage.botId);
        await bot.set({ code_lifetime_seconds: lifetimeSeconds }).execute();
        await work(stage);
      } finally {
        await stage.close();
      }
    };
  }

  const reopen = (stage: SessionStage, initData: string, more: object = {}) =>
    stage.post("/sessions", { bot_id: stage.botId, init_data: initData, ...more });
  const expired = { status: 401, body: { error: { code: "INIT_DATA_EXPIRED" } } };

  test(
    "launch data of 70 minutes continues the view that the user began with it, and the view is paid",
    onStage(async (stage) => {
      const initData = stage.initData(ann);
      const code = await stage.issue(ann);
      const begun = await stage.begin(ann, code);
      await stage.play(begun, 0, 4);
      stage.advance(70 * minutes);
      for (const launch of [{ code }, {}]) {
        const answer = await reopen(stage, initData, launch);
        expect(answer).toMatchObject({ status: 200, body: { outcome: "session", code, resume_at_ms: 4000 } });
        if ("code" in launch) continue;
        const again = answer.body as unknown as typeof begun;
        expect(again.session_id).toBe(begun.session_id);
        await stage.play(again, 4, 10);
        expect((await stage.report(again, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      }
      expect(await stage.events()).toMatchObject([{ event: "rewarded", user_id: ann, code }]);
      // What came of the view is shown, and is not earned again.
      expect((await reopen(stage, initData)).body).toMatchObject({ code, state: "rewarded" });
      expect(await stage.events()).toHaveLength(1);
    }),
  );

  test(
    "an offer that was not started yet can be watched with launch data of 70 minutes",
    onStage(async (stage) => {
      const initData = stage.initData(ann);
      const offered = (await reopen(stage, initData)).body;
      stage.advance(70 * minutes);
      expect((await reopen(stage, initData)).body).toMatchObject({ outcome: "session", code: offered.code });
    }),
  );

  test(
    "launch data of 70 minutes begins no new session, issues no code, and the refusal names the way back to the bot",
    onStage(async (stage) => {
      const initData = stage.initData(ann);
      const unopened = await stage.issue(ann);
      stage.advance(70 * minutes);
      const codesBefore = await codesOf(stage);
      const link = { error: { code: "INIT_DATA_EXPIRED", details: { bot_link: "https://t.me/test_bot" } } };
      for (const launch of [{ code: unopened }, {}, { another: true }])
        expect(await reopen(stage, initData, launch)).toMatchObject({ status: 401, body: link });
      expect(await stage.sessions()).toEqual([]);
      expect(await codesOf(stage)).toBe(codesBefore);
    }),
  );

  test(
    "replayed launch data reaches no session of another user, and no further ad",
    onStage(async (stage) => {
      const initData = stage.initData(ann);
      const ofBob = await stage.issue(bob);
      await stage.play(await stage.begin(bob, ofBob), 0, 2);
      await stage.play(await stage.begin(ann), 0, 2);
      stage.advance(70 * minutes);
      expect(await reopen(stage, initData, { code: ofBob })).toMatchObject({ status: 403 });
      expect(await reopen(stage, initData, { another: true })).toMatchObject(expired);
      expect(await stage.sessions()).toHaveLength(2);
    }),
  );

  test(
    "launch data older than a day, and stale launch data that is not Telegram's, continue nothing",
    onStage(async (stage) => {
      const initData = stage.initData(ann);
      const code = await stage.issue(ann);
      await stage.play(await stage.begin(ann, code), 0, 2);
      stage.advance(day - 2);
      // Exactly a day old: the last second that counts.
      expect((await reopen(stage, initData, { code })).status).toBe(200);
      stage.advance(1);
      expect(await reopen(stage, initData, { code })).toMatchObject(expired);
      const forged = stage.initData(ann, { secondsAgo: 70 * minutes }).replace("501", "502");
      const unsigned = { status: 401, body: { error: { code: "INIT_DATA_INVALID" } } };
      expect(await reopen(stage, forged, { code })).toMatchObject(unsigned);
    }),
  );

  test(
    "a view whose time is over is not continued by stale launch data",
    onStage(async (stage) => {
      const initData = stage.initData(ann);
      const code = await stage.issue(ann);
      await stage.play(await stage.begin(ann, code), 0, 2);
      stage.advance(71 * minutes);
      const over = { status: 410, body: { error: { code: "CODE_EXPIRED" } } };
      expect(await reopen(stage, initData, { code })).toMatchObject(over);
      expect(await reopen(stage, initData)).toMatchObject(expired);
    }, 3600),
  );
});

async function codesOf(stage: SessionStage): Promise<number> {
  return (await stage.database.query.selectFrom("codes").select("code").where("bot_id", "=", stage.botId).execute())
    .length;
}
