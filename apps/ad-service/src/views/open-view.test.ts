import { type AdForPlayer, openSessionResponse } from "@intermission/ad-core/player-api";
import type { CampaignStatus } from "@intermission/operator-api/campaign-words";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Opened, openViewFixture, playedRange, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { setCampaignStatus } from "../campaigns/change-campaign.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";
import { sweepViews } from "./sweep-views.ts";

const ann = "501";
const bob = "502";
describe("opening an ad", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  function onFixture(settings: Parameters<typeof openViewFixture>[2], work: (fixture: ViewFixture) => Promise<void>) {
    return async () => {
      const fixture = await openViewFixture(store.database, viewPlayerRoutes, settings);
      try {
        await work(fixture);
      } finally {
        await fixture.close();
      }
    };
  }

  async function earn(fixture: ViewFixture, view: Opened) {
    await fixture.play(view, 0, 10);
    expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
  }

  describe("who may open an ad", () => {
    test(
      "launch data that is stale, from the future, with a duplicate field, of another bot, without a user or altered is refused",
      onFixture({}, async (fixture) => {
        const valid = fixture.initData(ann);
        const cases = [
          { initData: fixture.initData(ann, { secondsAgo: 3601 }), code: "INIT_DATA_EXPIRED" },
          { initData: fixture.initData(ann, { secondsAgo: -61 }), code: "INIT_DATA_INVALID" },
          { initData: `${valid}&auth_date=1`, code: "INIT_DATA_INVALID" },
          { initData: fixture.initData(ann, { ofBot: "1" }), code: "INIT_DATA_INVALID" },
          { initData: valid.replace("501", "502"), code: "INIT_DATA_INVALID" },
          { initData: "nonsense", code: "INIT_DATA_INVALID" },
          { initData: fixture.initData(ann, { hasUser: false }), code: "INIT_DATA_WITHOUT_USER" },
        ];
        for (const { initData, code } of cases) {
          const answer = await fixture.post("/sessions", { bot_id: fixture.botId, init_data: initData });
          expect(answer).toMatchObject({ status: 401, body: { error: { code } } });
        }
        expect(await fixture.storedViews()).toEqual([]);
      }),
    );

    test(
      "a code that is malformed, unknown, another bot's, another user's or expired is refused",
      onFixture({}, async (fixture) => {
        const other = await openViewFixture(store.database, viewPlayerRoutes);
        const [ofBob, ofOtherBot] = [await fixture.issue(bob), await other.issue(ann)];
        await other.close();
        expect(await fixture.open(ann, "no code")).toMatchObject({
          status: 400,
          body: { error: { code: "CODE_MALFORMED" } },
        });
        expect(await fixture.open(ann, "2".repeat(18))).toMatchObject({
          status: 404,
          body: { error: { code: "CODE_UNKNOWN" } },
        });
        expect(await fixture.open(ann, ofOtherBot)).toMatchObject({
          status: 404,
          body: { error: { code: "CODE_UNKNOWN" } },
        });
        expect(await fixture.open(ann, ofBob)).toMatchObject({
          status: 403,
          body: { error: { code: "CODE_OF_ANOTHER_USER" } },
        });
        fixture.advance(3601);
        expect(await fixture.open(bob, ofBob)).toMatchObject({
          status: 410,
          body: { error: { code: "CODE_EXPIRED" } },
        });
        expect(await fixture.storedViews()).toEqual([]);
      }),
    );

    test(
      "an unknown bot and a suspended bot get different errors",
      onFixture({}, async (fixture) => {
        const unknown = { bot_id: "42", init_data: fixture.initData(ann) };
        expect(await fixture.post("/sessions", unknown)).toMatchObject({
          status: 404,
          body: { error: { code: "BOT_UNKNOWN" } },
        });
        const suspend = "update bots set is_suspended = true where bot_id = $1";
        await fixture.database.run({ name: "", text: suspend }, [fixture.botId]);
        expect(await fixture.open(ann)).toMatchObject({ status: 403, body: { error: { code: "BOT_SUSPENDED" } } });
      }),
    );

    test(
      "a view that began in time may continue until ten minutes after its code expired",
      onFixture({}, async (fixture) => {
        const code = await fixture.issue(ann);
        await fixture.play(await fixture.begin(ann, code), 0, 3);
        fixture.advance(3600 + 590);
        await fixture.begin(ann, code);
        fixture.advance(11);
        expect(await fixture.open(ann, code)).toMatchObject({ status: 410, body: { error: { code: "CODE_EXPIRED" } } });
      }),
    );

    test(
      "an opening without a code issues one, and the next opening gets the same code",
      onFixture({}, async (fixture) => {
        const first = (await fixture.open(ann)).body;
        const second = (await fixture.open(ann)).body;
        expect(second).toMatchObject({ code: first.code, session_id: first.session_id });
      }),
    );

    test(
      "another ad after a watched one gets its own code, although the app was opened with the first code",
      onFixture({}, async (fixture) => {
        const code = await fixture.issue(ann);
        const first = await fixture.begin(ann, code);
        await fixture.play(first, 0, 10);
        await fixture.report(first, { closed: "tap" });
        const again = { bot_id: fixture.botId, init_data: fixture.initData(ann), code };
        expect((await fixture.post("/sessions", again)).body).toMatchObject({ code, state: "rewarded" });
        const { body: another } = await fixture.post("/sessions", { ...again, another: true });
        expect(another).toMatchObject({ outcome: "session", state: "opened" });
        expect(another.code).not.toBe(code);
      }),
    );
  });

  describe("the file of the video", () => {
    const addRendition = (
      { database }: ViewFixture,
      ...file: [fileName: string, mediaType: string, width: number, height: number, byteLength: number]
    ) => {
      const [fileName, mediaType, width, height, byteLength] = file;
      const text = "update creatives set renditions = renditions || $1::jsonb where creative_id = 'cre_1'";
      return database.run({ name: "", text }, [JSON.stringify({ fileName, mediaType, width, height, byteLength })]);
    };

    test(
      "follows the browser's client hints, and smaller files are offered for a player that stalls",
      onFixture({}, async (fixture) => {
        const ask = (text: string) => fixture.database.run({ name: "", text }, []);
        await ask("update creatives set byte_length = 6000000 where creative_id = 'cre_1'");
        await addRendition(fixture, "m.mp4", "video/mp4", 480, 854, 1_000_000);
        await addRendition(fixture, "l.mp4", "video/mp4", 360, 640, 500_000);
        const phone = "Mozilla/5.0 (Linux; Android 14; Pixel 8) Mobile";
        const sent = async (headers: Record<string, string>) => {
          const response = await fetch(`${fixture.address}/player/v1/sessions`, {
            method: "POST",
            headers: { "content-type": "application/json", "user-agent": "Desktop", ...headers },
            body: JSON.stringify({ bot_id: fixture.botId, init_data: fixture.initData(ann) }),
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
        await ask("update creatives set renditions = '[]'");
        await expect.poll(() => sent({ ect: "3g" })).toEqual([540, "ab.mp4"]);
      }),
    );

    test(
      "is one that the browser plays; without one there is no ad, and the video is not marked as broken",
      onFixture({}, async (fixture) => {
        const code = await fixture.issue(ann);
        const opening = { bot_id: fixture.botId, init_data: fixture.initData(ann), code };
        const open = async (...media_types: string[]) =>
          (await fixture.post("/sessions", { ...opening, media_types })).body;
        expect(await open("video/webm")).toMatchObject({ outcome: "no-ad" });
        expect(await open()).toMatchObject({ outcome: "no-ad" });
        expect(await fixture.storedViews()).toEqual([]);
        expect(await open("video/mp4")).toMatchObject({ ad: { media_type: "video/mp4" } });
        await addRendition(fixture, "m.webm", "video/webm", 480, 854, 1_000_000);
        await expect
          .poll(() => open("video/webm"))
          .toMatchObject({
            outcome: "session",
            ad: { media_type: "video/webm", media_url: expect.stringMatching(/m\.webm$/) },
          });
        await fixture.database.run({ name: "", text: "update creatives set renditions = '[]'" }, []);
      }),
    );
  });

  test(
    "a bot that is suspended starts no ad that was offered before, and pays what plays already",
    onFixture({}, async (fixture) => {
      const offered = await fixture.begin(ann, await fixture.issue(ann));
      const playing = await fixture.begin(bob, await fixture.issue(bob));
      await fixture.play(playing, 0, 4);
      const suspend = "update bots set is_suspended = $2 where bot_id = $1";
      await store.database.run({ name: "", text: suspend }, [fixture.botId, true]);
      const other = await fixture.startNode();
      for (const at of [fixture.address, other])
        expect(await fixture.report(offered, { started: true }, at)).toMatchObject({
          status: 410,
          body: { error: { code: "SESSION_OVER" } },
        });
      for (let second = 4; second < 10; second++) {
        fixture.advance(1);
        await fixture.report(playing, { reports: [playedRange(second, second)] });
      }
      expect((await fixture.report(playing, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      expect((await fixture.events()).map(({ user_id }) => user_id)).toEqual([bob]);
      await store.database.run({ name: "", text: suspend }, [fixture.botId, false]);
      await earn(fixture, offered);
    }),
  );

  describe("limits", () => {
    test(
      "after a reward the next ad waits for the cooldown, counted from the reward",
      onFixture({ cooldownSeconds: 60 }, async (fixture) => {
        await earn(fixture, await fixture.begin(ann, await fixture.issue(ann)));
        const available_at = new Date(fixture.clock.now.getTime() + 60_000).toISOString();
        const refused = { outcome: "limit-reached", reason: "cooldown", available_at };
        expect((await fixture.open(ann, await fixture.issue(ann))).body).toMatchObject(refused);
        expect((await fixture.open(ann)).body).toMatchObject(refused);
        expect((await fixture.open(bob)).body).toMatchObject({ outcome: "session" });
        fixture.advance(60);
        expect((await fixture.open(ann)).body).toMatchObject({ outcome: "session" });
      }),
    );

    test(
      "the daily cap ends at midnight UTC",
      onFixture({ dailyCap: 2 }, async (fixture) => {
        for (const reference of ["a", "b"])
          await earn(fixture, await fixture.begin(ann, await fixture.issue(ann, reference)));
        expect((await fixture.open(ann)).body).toMatchObject({
          outcome: "limit-reached",
          reason: "daily-cap",
          available_at: "2026-03-02T00:00:00.000Z",
        });
        fixture.advance(12 * 3600);
        await earn(fixture, await fixture.begin(ann));
        expect(await fixture.viewers()).toMatchObject([{ earned_today: 1 }]);
      }),
    );

    test(
      "a view that began is paid when the cooldown is over, whatever was earned meanwhile",
      onFixture({ cooldownSeconds: 30, dailyCap: 2 }, async (fixture) => {
        const left = await fixture.issue(ann, "left");
        await fixture.play(await fixture.begin(ann, left), 0, 2);
        fixture.advance(30);
        await earn(fixture, await fixture.begin(ann, await fixture.issue(ann, "next")));
        const back = await fixture.begin(ann, left);
        await fixture.play(back, 2, 10);
        await fixture.report(back, { closed: "tap" });
        expect(await fixture.events()).toHaveLength(1);
        fixture.advance(22);
        await sweepViews(fixture.views, { listeningSince: new Date(0), now: fixture.clock.now });
        expect(await fixture.events()).toHaveLength(2);
      }),
    );

    test(
      "with many codes, views begin no faster than the cooldown allows",
      onFixture({ cooldownSeconds: 60 }, async (fixture) => {
        const first = await fixture.begin(ann, await fixture.issue(ann, "a"));
        await fixture.report(first, { started: true });
        fixture.advance(59);
        expect((await fixture.open(ann, await fixture.issue(ann, "b"))).body).toMatchObject({ reason: "cooldown" });
        fixture.advance(1);
        await fixture.begin(ann, await fixture.issue(ann, "b"));
      }),
    );

    test(
      "of many codes opened at the same time, one is watched: a viewer holds at most one offer",
      onFixture({ cooldownSeconds: 60, dailyCap: 5 }, async (fixture) => {
        const codes = await Promise.all(Array.from({ length: 12 }, (_, index) => fixture.issue(ann, `task-${index}`)));
        const opened = await Promise.all(codes.map((code) => fixture.begin(ann, code)));
        const starts = await Promise.all(opened.map((view) => fixture.report(view, { started: true })));
        expect(starts.filter(({ status }) => status === 200)).toHaveLength(1);
        expect(starts.filter(({ status }) => status === 401)).toHaveLength(11);
        expect(await fixture.storedViews()).toMatchObject([{ state: "playing" }]);
      }),
    );

    test(
      "views in progress count towards the daily cap",
      onFixture({ dailyCap: 3 }, async (fixture) => {
        for (const reference of ["a", "b", "c"]) {
          const view = await fixture.begin(ann, await fixture.issue(ann, reference));
          await fixture.report(view, { started: true });
        }
        expect((await fixture.open(ann, await fixture.issue(ann, "d"))).body).toMatchObject({
          outcome: "limit-reached",
          reason: "daily-cap",
          available_at: "2026-03-01T13:10:00.000Z",
        });
      }),
    );

    test(
      "without a running campaign there is no ad",
      onFixture({}, async (fixture) => {
        const setStatus = (status: CampaignStatus) =>
          setCampaignStatus(fixture.database, { campaignId: "cmp_1", status, by: "operator", now: new Date() });
        await setStatus("paused");
        await fixture.campaigns.refresh();
        expect((await fixture.open(ann)).body).toMatchObject({ outcome: "no-ad", retry_after_seconds: 60 });
        await setStatus("active");
      }),
    );
  });

  describe("the HTTP API", () => {
    test(
      "the error for a malformed body names each invalid field",
      onFixture({}, async (fixture) => {
        const answer = await fixture.post("/sessions", { bot_id: 42, init_data: "" });
        expect(answer).toMatchObject({ status: 400, body: { error: { code: "BAD_REQUEST" } } });
        expect(await fixture.post("/sessions", "{", "text/plain")).toMatchObject({ status: 400, body: { error: {} } });
        expect(await fixture.post("/sessions", "a=b", "application/x-www-form-urlencoded")).toMatchObject({
          status: 415,
        });
      }),
    );

    test(
      "any origin may call, and no response is cached",
      onFixture({}, async (fixture) => {
        const address = await fixture.startNode();
        const preflight = await fetch(`${address}/player/v1/sessions`, {
          method: "OPTIONS",
          headers: { origin: "https://app.test", "access-control-request-method": "POST" },
        });
        expect(preflight.status).toBe(204);
        expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
        expect(preflight.headers.get("access-control-allow-headers")).toBe("content-type");
        const refused = await fetch(`${address}/player/v1/sessions`, { method: "POST" });
        expect(refused.headers.get("access-control-allow-origin")).toBe("*");
        expect(refused.headers.get("access-control-expose-headers")).toBe("retry-after, x-request-id");
        expect(refused.headers.get("cache-control")).toBe("no-store");
      }),
    );

    test(
      "differently encoded launch data of one user share that user's limit",
      onFixture({}, async (fixture) => {
        const open = (userId: string, spell: (initData: string) => string) =>
          fixture.post(
            "/sessions",
            { bot_id: fixture.botId, init_data: spell(fixture.initData(userId)) },
            "application/json",
          );
        const respelled = [
          (text: string) => text,
          (text: string) => text.split("&").toReversed().join("&"),
          (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
          (text: string) => text.replace("user=", "%75ser="),
          // Not one of the signed fields.
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
        fixture.advance(2);
        expect((await open(ann, String)).status).toBe(200);
      }),
    );

    test(
      "checks of forged launch data are limited per address",
      { tags: "long" },
      onFixture({}, async (fixture) => {
        const forged = () =>
          fixture.post("/sessions", { bot_id: fixture.botId, init_data: "user=1" }, "application/json");
        const statuses: number[] = [];
        for (let round = 0; round < 13; round++) {
          const answers = await Promise.all(Array.from({ length: 100 }, forged));
          statuses.push(...answers.map(({ status }) => status));
        }
        expect(statuses.filter((status) => status === 401)).toHaveLength(20);
        expect(statuses.filter((status) => status === 429)).toHaveLength(1280);
        // After 1200 checks of a minute no launch data of the address is checked, authentic or not.
        const authentic = { bot_id: fixture.botId, init_data: fixture.initData(ann) };
        expect(await fixture.post("/sessions", authentic, "application/json")).toMatchObject({ status: 429 });
      }),
    );

    test(
      "a view that is called too often is throttled, and another view is not",
      onFixture({}, async (fixture) => {
        const [noisy, quiet] = [await fixture.begin(ann), await fixture.begin(bob)];
        const answers = await Promise.all(Array.from({ length: 120 }, () => fixture.status(noisy)));
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
        expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
        expect(await fixture.status(quiet)).toMatchObject({ status: 200 });
        fixture.advance(1);
        expect(await fixture.status(noisy)).toMatchObject({ status: 200 });
      }),
    );
  });
});
