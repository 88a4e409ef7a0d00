import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Opened, openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { forgetBot } from "../bots/bots.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const ann = "501";
const game = "https://game.example";
const hour = 3600;

describe("app grants of a publisher's own mini-app", () => {
  let store: TestDatabase;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());

  async function setOrigins({ botId, bots }: ViewFixture, origins: string[]) {
    const text = "update bots set app_origins = $2 where bot_id = $1";
    await store.database.run({ name: "", text }, [botId, origins]);
    forgetBot(bots, botId);
  }

  function onFixture(work: (fixture: ViewFixture) => Promise<void>) {
    return async () => {
      const fixture = await openViewFixture(store.database, viewPlayerRoutes);
      try {
        await setOrigins(fixture, [game, "https://second.example"]);
        await work(fixture);
      } finally {
        await fixture.close();
      }
    };
  }

  const exchange = (fixture: ViewFixture, body: object, origin: string | undefined = game) =>
    fixture.post(
      "/app-grants",
      { bot_id: fixture.botId, ...body },
      "application/json",
      fixture.address,
      origin === "" ? {} : { origin },
    );
  const begin = (fixture: ViewFixture, appGrant: unknown, more: object = {}) =>
    fixture.post("/sessions", { bot_id: fixture.botId, app_grant: appGrant, ...more });

  test(
    "launch data opens an app grant, with which ads are watched and paid for twelve hours",
    onFixture(async (fixture) => {
      const { status, body } = await exchange(fixture, { init_data: fixture.initData(ann) });
      expect({ status, body }).toMatchObject({ status: 200, body: { available: true } });
      expect(body.expires_at).toBe("2026-03-02T00:00:00.000Z");
      expect(JSON.stringify(body)).not.toContain(ann);
      for (const wait of [0, 6 * hour, 5 * hour]) {
        fixture.advance(wait);
        const opened = (await begin(fixture, body.app_grant)).body;
        expect(opened).toMatchObject({ outcome: "session", state: "opened" });
        const view = opened as unknown as Opened;
        await fixture.play(view, 0, 10);
        expect((await fixture.report(view, { closed: "tap" })).body).toMatchObject({ state: "rewarded" });
      }
      expect((await fixture.events()).map(({ user_id: userId }) => userId)).toEqual([ann, ann, ann]);
      fixture.advance(hour);
      expect(await begin(fixture, body.app_grant)).toMatchObject({
        status: 401,
        body: { error: { code: "INIT_DATA_EXPIRED" } },
      });
    }),
  );

  test(
    "asking again with the session tells what is available, and never makes it longer",
    onFixture(async (fixture) => {
      const first = (await exchange(fixture, { init_data: fixture.initData(ann) })).body;
      fixture.advance(11 * hour);
      const again = (await exchange(fixture, { app_grant: first.app_grant })).body;
      expect(again).toMatchObject({ available: true, expires_at: first.expires_at });
      fixture.advance(hour);
      for (const token of [first.app_grant, again.app_grant])
        expect(await exchange(fixture, { app_grant: token })).toMatchObject({ status: 401 });
    }),
  );

  test.each([
    "https://evil.example",
    "http://game.example",
    "https://game.example:8443",
    "https://www.game.example",
    "null",
    "",
  ])("the origin %j is refused by name, whatever it brings", async (origin) => {
    await onFixture(async (fixture) => {
      const { app_grant: token } = (await exchange(fixture, { init_data: fixture.initData(ann) })).body;
      for (const proof of [{ init_data: fixture.initData(ann) }, { app_grant: token }])
        expect(await exchange(fixture, proof, origin)).toMatchObject({
          status: 403,
          body: { error: { code: "ORIGIN_NOT_REGISTERED" } },
        });
      expect(await fixture.storedViews()).toEqual([]);
    })();
  });

  test(
    "a session of one origin is not that of another, and ends when its origin is removed",
    onFixture(async (fixture) => {
      const { app_grant: token } = (await exchange(fixture, { init_data: fixture.initData(ann) })).body;
      const invalid = { status: 401, body: { error: { code: "INIT_DATA_INVALID" } } };
      expect(await exchange(fixture, { app_grant: token }, "https://second.example")).toMatchObject(invalid);
      await setOrigins(fixture, ["https://second.example"]);
      expect(await begin(fixture, token)).toMatchObject(invalid);
    }),
  );

  test(
    "a session of another bot, a changed one, both proofs or none open nothing",
    onFixture(async (fixture) => {
      const { app_grant: token } = (await exchange(fixture, { init_data: fixture.initData(ann) })).body;
      await onFixture(async (other) => {
        expect(await begin(other, token)).toMatchObject({ status: 401 });
        expect(await exchange(other, { init_data: fixture.initData(ann) })).toMatchObject({ status: 401 });
      })();
      const text = String(token);
      const changed = `${text.slice(0, 40)}${text[40] === "A" ? "B" : "A"}${text.slice(41)}`;
      expect(await begin(fixture, changed)).toMatchObject({ status: 401 });
      expect(await begin(fixture, token, { init_data: fixture.initData(ann) })).toMatchObject({ status: 400 });
      expect(await fixture.post("/sessions", { bot_id: fixture.botId })).toMatchObject({ status: 400 });
      expect(await fixture.storedViews()).toEqual([]);
    }),
  );

  test(
    "launch data of more than an hour opens none",
    onFixture(async (fixture) => {
      const initData = fixture.initData(ann, { secondsAgo: hour + 1 });
      expect(await exchange(fixture, { init_data: initData })).toMatchObject({
        status: 401,
        body: { error: { code: "INIT_DATA_EXPIRED" } },
      });
    }),
  );
});
