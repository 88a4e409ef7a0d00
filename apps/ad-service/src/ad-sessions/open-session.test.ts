import { type AdForPlayer, openSessionResponse } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { migrations } from "../migrations.ts";
import { sessionRoutes } from "./routes.ts";
import { type Opened, openSessionStage, type SessionStage } from "./session-stage.ts";
import { sweepSessions } from "./sweep-sessions.ts";

const ann = "501";
const bob = "502";
const bots = (stage: SessionStage) => stage.database.query.updateTable("bots").where("bot_id", "=", stage.botId);

describe.each(testDatabases())("opening an ad, on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;

  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  function onStage(settings: Parameters<typeof openSessionStage>[2], work: (stage: SessionStage) => Promise<void>) {
    return async () => {
      const stage = await openSessionStage(store.database, sessionRoutes, settings);
      try {
        await work(stage);
      } finally {
        await stage.close();
      }
    };
  }

  async function earn(stage: SessionStage, session: Opened) {
    await stage.play(session, 0, 10);
    expect((await stage.report(session, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  }

  describe("who may open it", () => {
    test(
      "launch data that is stale, from the future, doubled, of another bot or altered is refused",
      onStage({}, async (stage) => {
        const valid = stage.initData(ann);
        const cases = [
          { initData: stage.initData(ann, { secondsAgo: 3601 }), code: "INIT_DATA_EXPIRED" },
          { initData: stage.initData(ann, { secondsAgo: -61 }), code: "INIT_DATA_INVALID" },
          { initData: `${valid}&auth_date=1`, code: "INIT_DATA_INVALID" },
          { initData: stage.initData(ann, { ofBot: "1" }), code: "INIT_DATA_INVALID" },
          { initData: valid.replace("501", "502"), code: "INIT_DATA_INVALID" },
          { initData: "nonsense", code: "INIT_DATA_INVALID" },
        ];
        for (const { initData, code } of cases) {
          const answer = await stage.post("/sessions", { bot_id: stage.botId, init_data: initData });
          expect(answer).toMatchObject({ status: 401, body: { error: { code } } });
        }
        expect(await stage.sessions()).toEqual([]);
      }),
    );

    test(
      "a code that is malformed, unknown, another bot's, another user's or expired is refused",
      onStage({}, async (stage) => {
        const other = await openSessionStage(store.database, sessionRoutes);
        const [ofBob, ofOtherBot] = [await stage.issue(bob), await other.issue(ann)];
        await other.close();
        expect(await stage.open(ann, "no code")).toMatchObject({
          status: 400,
          body: { error: { code: "CODE_MALFORMED" } },
        });
        expect(await stage.open(ann, "2".repeat(16))).toMatchObject({
          status: 404,
          body: { error: { code: "CODE_UNKNOWN" } },
        });
        expect(await stage.open(ann, ofOtherBot)).toMatchObject({
          status: 404,
          body: { error: { code: "CODE_UNKNOWN" } },
        });
        expect(await stage.open(ann, ofBob)).toMatchObject({
          status: 403,
          body: { error: { code: "CODE_OF_ANOTHER_USER" } },
        });
        stage.advance(3601);
        expect(await stage.open(bob, ofBob)).toMatchObject({ status: 410, body: { error: { code: "CODE_EXPIRED" } } });
        expect(await stage.sessions()).toEqual([]);
      }),
    );

    test(
      "an unknown bot and a suspended one are told apart",
      onStage({}, async (stage) => {
        const unknown = { bot_id: "42", init_data: stage.initData(ann) };
        expect(await stage.post("/sessions", unknown)).toMatchObject({
          status: 404,
          body: { error: { code: "BOT_UNKNOWN" } },
        });
        await bots(stage).set({ is_suspended: true }).execute();
        expect(await stage.open(ann)).toMatchObject({ status: 403, body: { error: { code: "BOT_SUSPENDED" } } });
      }),
    );

    test(
      "a view begun in time goes on until ten minutes after its code expired",
      onStage({}, async (stage) => {
        const code = await stage.issue(ann);
        await stage.play(await stage.begin(ann, code), 0, 3);
        stage.advance(3600 + 590);
        await stage.begin(ann, code);
        stage.advance(11);
        expect(await stage.open(ann, code)).toMatchObject({ status: 410, body: { error: { code: "CODE_EXPIRED" } } });
      }),
    );

    test(
      "without a code one is issued, and the same again",
      onStage({}, async (stage) => {
        const first = (await stage.open(ann)).body;
        const second = (await stage.open(ann)).body;
        expect(second).toMatchObject({ code: first.code, session_id: first.session_id });
      }),
    );

    test(
      "another ad after a watched one has a code of its own, though the app was opened with the first one",
      onStage({}, async (stage) => {
        const code = await stage.issue(ann);
        const first = await stage.begin(ann, code);
        await stage.play(first, 0, 10);
        await stage.report(first, { closed: "tap" });
        const again = { bot_id: stage.botId, init_data: stage.initData(ann), code };
        expect((await stage.post("/sessions", again)).body).toMatchObject({ code, state: "rewarded" });
        const { body: another } = await stage.post("/sessions", { ...again, another: true });
        expect(another).toMatchObject({ outcome: "session", state: "opened" });
        expect(another.code).not.toBe(code);
      }),
    );
  });

  describe("which file of the video", () => {
    const lighter = (file: string, width: number, height: number, byteLength: number) => ({
      ...{ creative_id: "cre_1", file_name: file, media_type: "video/mp4", width, height, byte_length: byteLength },
    });

    test(
      "is sent is told by the browser's hints; lighter ones come along, for a player that stalls",
      onStage({}, async (stage) => {
        const { query } = stage.database;
        await query
          .updateTable("creatives")
          .set({ byte_length: 6_000_000 })
          .where("creative_id", "=", "cre_1")
          .execute();
        const files = [lighter("m.mp4", 480, 854, 1_000_000), lighter("l.mp4", 360, 640, 500_000)];
        await query.insertInto("creative_renditions").values(files).execute();
        const phone = "Mozilla/5.0 (Linux; Android 14; Pixel 8) Mobile";
        const sent = async (headers: Record<string, string>) => {
          const response = await fetch(`${stage.address}/player/v1/sessions`, {
            method: "POST",
            headers: { "content-type": "application/json", "user-agent": "Desktop", ...headers },
            body: JSON.stringify({ bot_id: stage.botId, init_data: stage.initData(ann) }),
          });
          const { ad } = openSessionResponse.parse(await response.json()) as { ad: AdForPlayer };
          const name = (url: string) => url.split("/media/")[1];
          return [ad.width, name(ad.media_url), ...(ad.lighter_media ?? []).map(({ url }) => name(url))];
        };
        expect(await sent({})).toEqual([540, "ab.mp4", "m.mp4", "l.mp4"]);
        expect(await sent({ "user-agent": phone })).toEqual([480, "m.mp4", "l.mp4"]);
        expect(await sent({ "user-agent": phone, "save-data": "on" })).toEqual([360, "l.mp4"]);
        expect(await sent({ ect: "3g" })).toEqual([360, "l.mp4"]);
        expect(await sent({ downlink: "2" })).toEqual([480, "m.mp4", "l.mp4"]);
        expect(await sent({ downlink: "?", ect: "7g" })).toEqual([540, "ab.mp4", "m.mp4", "l.mp4"]);
        await query.deleteFrom("creative_renditions").execute();
        await expect.poll(() => sent({ ect: "3g" }), { timeout: 5000 }).toEqual([540, "ab.mp4"]);
      }),
    );
  });

  describe("limits", () => {
    test(
      "after a reward the next ad waits for the cooldown, which counts from the reward",
      onStage({ cooldownSeconds: 60 }, async (stage) => {
        await earn(stage, await stage.begin(ann, await stage.issue(ann)));
        const available_at = new Date(stage.clock.now.getTime() + 60_000).toISOString();
        const refused = { outcome: "limit-reached", reason: "cooldown", available_at };
        expect((await stage.open(ann, await stage.issue(ann))).body).toMatchObject(refused);
        expect((await stage.open(ann)).body).toMatchObject(refused);
        expect((await stage.open(bob)).body).toMatchObject({ outcome: "session" });
        stage.advance(60);
        expect((await stage.open(ann)).body).toMatchObject({ outcome: "session" });
      }),
    );

    test(
      "the daily cap ends at midnight UTC",
      onStage({ dailyCap: 2 }, async (stage) => {
        for (const reference of ["a", "b"])
          await earn(stage, await stage.begin(ann, await stage.issue(ann, reference)));
        expect((await stage.open(ann)).body).toMatchObject({
          outcome: "limit-reached",
          reason: "daily-cap",
          available_at: "2026-03-02T00:00:00.000Z",
        });
        stage.advance(12 * 3600);
        await earn(stage, await stage.begin(ann));
        expect(await stage.viewers()).toMatchObject([{ earned_today: 1 }]);
      }),
    );

    test(
      "a view that began is honoured, whatever was earned meanwhile, when the cooldown is over",
      onStage({ cooldownSeconds: 30, dailyCap: 2 }, async (stage) => {
        const left = await stage.issue(ann, "left");
        await stage.play(await stage.begin(ann, left), 0, 2);
        stage.advance(30);
        await earn(stage, await stage.begin(ann, await stage.issue(ann, "next")));
        const back = await stage.begin(ann, left);
        await stage.play(back, 2, 10);
        await stage.report(back, { closed: "tap" });
        expect(await stage.events()).toHaveLength(1);
        stage.advance(22);
        await sweepSessions(stage.views, { listeningSince: new Date(0), now: stage.clock.now });
        expect(await stage.events()).toHaveLength(2);
      }),
    );

    test(
      "with many codes, views begin no faster than the cooldown allows",
      onStage({ cooldownSeconds: 60 }, async (stage) => {
        const first = await stage.begin(ann, await stage.issue(ann, "a"));
        await stage.report(first, { started: true });
        stage.advance(59);
        expect((await stage.open(ann, await stage.issue(ann, "b"))).body).toMatchObject({ reason: "cooldown" });
        stage.advance(1);
        await stage.begin(ann, await stage.issue(ann, "b"));
      }),
    );

    test(
      "with many codes opened at once, one is watched: at most one offer is held",
      onStage({ cooldownSeconds: 60, dailyCap: 5 }, async (stage) => {
        const codes = await Promise.all(Array.from({ length: 12 }, (_, index) => stage.issue(ann, `task-${index}`)));
        const opened = await Promise.all(codes.map((code) => stage.begin(ann, code)));
        const starts = await Promise.all(opened.map((session) => stage.report(session, { started: true })));
        expect(starts.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(starts.filter(({ status }) => status === 401)).toHaveLength(11);
        expect(await stage.sessions()).toMatchObject([{ state: "playing" }]);
      }),
    );

    test(
      "views under way count towards the daily cap",
      onStage({ dailyCap: 3 }, async (stage) => {
        for (const reference of ["a", "b", "c"]) {
          const session = await stage.begin(ann, await stage.issue(ann, reference));
          await stage.report(session, { started: true });
        }
        expect((await stage.open(ann, await stage.issue(ann, "d"))).body).toMatchObject({
          outcome: "limit-reached",
          reason: "daily-cap",
          available_at: "2026-03-01T13:10:00.000Z",
        });
      }),
    );

    test(
      "where no campaign runs there is no ad now",
      onStage({}, async (stage) => {
        const pause = stage.database.query.updateTable("campaigns");
        await pause.set({ status: "paused" }).execute();
        await stage.campaigns.refresh();
        expect((await stage.open(ann)).body).toMatchObject({ outcome: "no-ad", retry_after_seconds: 60 });
        await pause.set({ status: "active" }).execute();
      }),
    );
  });

  describe("the wire", () => {
    test(
      "a malformed body is told apart field by field, in the error envelope",
      onStage({}, async (stage) => {
        const answer = await stage.post("/sessions", { bot_id: 42, init_data: "" });
        expect(answer).toMatchObject({ status: 400, body: { error: { code: "BAD_REQUEST" } } });
        expect(await stage.post("/sessions", "{", "text/plain")).toMatchObject({ status: 400, body: { error: {} } });
        expect(await stage.post("/sessions", "a=b", "application/x-www-form-urlencoded")).toMatchObject({
          status: 415,
        });
      }),
    );

    test(
      "any origin may call, and nothing is kept in caches",
      onStage({}, async (stage) => {
        const address = await stage.startNode();
        const preflight = await fetch(`${address}/player/v1/sessions`, {
          method: "OPTIONS",
          headers: { origin: "https://app.test", "access-control-request-method": "POST" },
        });
        expect(preflight.status).toBe(204);
        expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
        expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
        const refused = await fetch(`${address}/player/v1/sessions`, { method: "POST" });
        expect(refused.headers.get("access-control-allow-origin")).toBe("*");
        expect(refused.headers.get("cache-control")).toBe("no-store");
      }),
    );

    test(
      "launch data that are spelled anew each time have one limit, that of the user whom they name",
      onStage({}, async (stage) => {
        const open = (userId: string, spell: (initData: string) => string) =>
          stage.post(
            "/sessions",
            { bot_id: stage.botId, init_data: spell(stage.initData(userId)) },
            "application/json",
          );
        const respelled = [
          (text: string) => text,
          (text: string) => text.split("&").toReversed().join("&"),
          (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
          (text: string) => text.replace("user=", "%75ser="),
          // Not among the signed fields.
          (text: string) => text.replace(/hash=\w+/, `hash=${Math.random()}`),
        ];
        const answers = [];
        for (let index = 0; index < 80; index++) {
          const spell = respelled[index % respelled.length] ?? String;
          answers.push((await open(ann, spell)).status);
        }
        expect(answers.filter((status) => status === 200)).toHaveLength(60);
        expect(answers.filter((status) => status === 429)).toHaveLength(20);
        expect((await open(bob, String)).status).toBe(200);
        stage.advance(2);
        expect((await open(ann, String)).status).toBe(200);
      }),
    );

    test(
      "forged launch data are checked so often for an address, and not without end",
      onStage({}, async (stage) => {
        const forged = () => stage.post("/sessions", { bot_id: stage.botId, init_data: "user=1" }, "application/json");
        const statuses: number[] = [];
        for (let round = 0; round < 13; round++) {
          const answers = await Promise.all(Array.from({ length: 100 }, forged));
          statuses.push(...answers.map(({ status }) => status));
        }
        expect(statuses.filter((status) => status === 401)).toHaveLength(1200);
        expect(statuses.filter((status) => status === 429)).toHaveLength(100);
      }),
    );

    test(
      "a session that is called without end is slowed down, and another is not",
      onStage({}, async (stage) => {
        const [noisy, quiet] = [await stage.begin(ann), await stage.begin(bob)];
        const answers = await Promise.all(Array.from({ length: 120 }, () => stage.status(noisy)));
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
        expect(await stage.status(quiet)).toMatchObject({ status: 200 });
        stage.advance(1);
        expect(await stage.status(noisy)).toMatchObject({ status: 200 });
      }),
    );
  });
});
