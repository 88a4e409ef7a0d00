import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { forgetBot, readBot } from "../bots/bots.ts";
import { listAppOrigins } from "../bots/script-sightings.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "./player-routes.ts";

const ann = "501";
const game = "https://game.example";
const second = "https://second.example";

describe("what the publisher sees of the in-app script", () => {
  let store: TestDatabase;
  let fixture: ViewFixture;

  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
    await setOrigins([game, second]);
  });
  afterEach(() => fixture.close());

  async function setOrigins(origins: string[]) {
    const text = "update bots set app_origins = $2 where bot_id = $1";
    await store.database.run({ name: "", text }, [fixture.botId, origins]);
    forgetBot(fixture.bots, fixture.botId);
  }

  const post = (path: string, body: object, origin: string, at = fixture.address) =>
    fixture.post(path, { bot_id: fixture.botId, script_version: "1.0", ...body }, "text/plain", at, { origin });
  const ask = (origin: string, initData = fixture.initData(ann), at = fixture.address) =>
    post("/app-grants", { init_data: initData }, origin, at);

  async function listed() {
    const bot = await readBot(store.database, fixture.botId);
    if (!bot) throw new Error("the fixture's bot is gone");
    return listAppOrigins(store.database, bot);
  }
  const unseen = { isRegistered: true, seenAt: null, version: null, state: null };

  test("a registered origin is not seen until its script calls, then with the time and the version", async () => {
    expect(await listed()).toEqual([
      { origin: game, ...unseen },
      { origin: second, ...unseen },
    ]);
    expect((await ask(game)).status).toBe(200);
    const seen = { isRegistered: true, version: "1.0", state: "working", seenAt: fixture.clock.now };
    expect(await listed()).toEqual([
      { origin: game, ...seen },
      { origin: second, ...unseen },
    ]);
    fixture.advance(12);
    await ask(game);
    expect(await listed()).toMatchObject([{ seenAt: fixture.clock.now }, unseen]);
  });

  test("what is wrong is seen: no registration, no launch data, that of another bot, old one, a refused frame", async () => {
    await ask("https://new.example");
    for (const [trouble, state] of [
      ["launch-data-missing", "launch-data-missing"],
      ["frame-blocked", "frame-blocked"],
      ["frame-not-loaded", "frame-not-loaded"],
    ]) {
      fixture.advance(10);
      expect((await post("/script-troubles", { trouble }, game)).status).toBe(200);
      expect(await listed()).toMatchObject([
        { origin: game, state },
        { origin: second, state: null },
        { origin: "https://new.example", isRegistered: false, state: "not-registered", version: "1.0" },
      ]);
    }
    fixture.advance(10);
    await ask(second, fixture.initData(ann, { ofBot: "7000000999" }));
    await ask(game, fixture.initData(ann, { secondsAgo: 3601 }));
    expect(await listed()).toMatchObject([
      { origin: game, state: "launch-data-expired" },
      { origin: second, state: "launch-data-refused" },
      { isRegistered: false },
    ]);
  });

  test("a trouble that ends is seen at once, and a page in use is written every ten seconds", async () => {
    await post("/script-troubles", { trouble: "launch-data-missing" }, game);
    await ask(game);
    expect(await listed()).toMatchObject([{ state: "working" }, unseen]);
    const first = fixture.clock.now;
    fixture.advance(9);
    await ask(game);
    expect(await listed()).toMatchObject([{ seenAt: first }, unseen]);
  });

  test("of origins that are not registered the last five or six stay, however many are named, on two nodes", async () => {
    const other = await fixture.startNode();
    for (let number = 0; number < 20; number++) {
      fixture.advance(10);
      await ask(`https://page${number}.example`, undefined, number % 2 ? other : fixture.address);
    }
    const others = (await listed()).filter(({ isRegistered }) => !isRegistered).map(({ origin }) => origin);
    expect(others.slice(0, 5)).toEqual([19, 18, 17, 16, 15].map((number) => `https://page${number}.example`));
    expect(others.length).toBeLessThanOrEqual(6);
  });

  test("a flood of invented origins writes once in ten seconds, and nothing of what is no origin", async () => {
    for (const origin of ["null", "file://", "https://a.example/path", `https://${"a".repeat(400)}.example`])
      await ask(origin);
    expect(await listed()).toHaveLength(2);
    for (let number = 0; number < 20; number++) await ask(`https://page${number}.example`);
    expect(await listed()).toHaveLength(3);
  });

  test("an unknown bot is told nothing, and nothing is stored", async () => {
    const body = { bot_id: "7999999999", trouble: "frame-blocked" };
    expect((await fixture.post("/script-troubles", body, "text/plain", undefined, { origin: game })).status).toBe(200);
    expect((await fixture.post("/script-troubles", { ...body, trouble: "x" }, "text/plain")).status).toBe(400);
    expect(await listed()).toHaveLength(2);
  });
});
