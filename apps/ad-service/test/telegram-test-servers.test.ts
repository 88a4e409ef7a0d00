import { generateKeyPairSync } from "node:crypto";
import { publicKeyOf, telegramPublicKeys } from "@intermission/ad-core/telegram-init-data";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { migrations } from "../src/migrations.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { launchKeysOf } from "../src/views/verify-launch.ts";
import { openViewFixture } from "./fixtures/view-fixture.ts";

const { publicKey: otherKey } = generateKeyPairSync("ed25519");

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

/** What a launch is answered that the fixture's key has signed, where that key is of `servers`, and another is accepted. */
async function answerTo(servers: "test" | "production", altered = false) {
  const fixture = await openViewFixture(store.database, (app, deps) => {
    const refused = { servers, publicKey: deps.launchKeysFor("").accepted };
    viewPlayerRoutes(app, { ...deps, launchKeysFor: () => ({ accepted: otherKey, refused }) });
  });
  const initData = fixture.initData("501");
  const sent = altered ? initData.replace("501", "502") : initData;
  const answer = await fixture.post("/sessions", { bot_id: fixture.botId, init_data: sent });
  expect(await fixture.storedViews()).toEqual([]);
  await fixture.close();
  return answer as { status: number; body: { error: { code: string; message: string } } };
}

describe("a launch from Telegram's other servers", () => {
  test.each([
    ["test", "was signed by Telegram's test servers: TELEGRAM_TEST_SERVERS=on accepts them"],
    ["production", "with TELEGRAM_TEST_SERVERS=on no others are accepted"],
  ] as const)("of the %s servers is refused, and the answer says so", async (servers, words) => {
    const { status, body } = await answerTo(servers);
    expect({ status, ...body.error }).toEqual({
      status: 401,
      code: "INIT_DATA_INVALID",
      message: expect.stringContaining(words),
    });
  });

  test("that was altered is forged, whoever signed it", async () => {
    expect((await answerTo("test", true)).body.error.message).toBe(
      "the launch data was not signed by Telegram for this bot",
    );
  });
});

test("TELEGRAM_TEST_SERVERS selects the only servers whose launches are accepted", () => {
  const production = {
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    PUBLIC_URL: "https://rewards.example.com",
  };
  const keysWith = (setting: object) => launchKeysOf(readConfig({ ...production, ...setting }).telegramServers);
  const [ofUsers, ofTests] = [publicKeyOf(telegramPublicKeys.production), publicKeyOf(telegramPublicKeys.test)];
  const users = keysWith({});
  expect([users.accepted.equals(ofUsers), users.refused?.publicKey.equals(ofTests)]).toEqual([true, true]);
  expect(users.refused?.servers).toBe("test");
  const tests = keysWith({ TELEGRAM_TEST_SERVERS: "on" });
  expect([tests.accepted.equals(ofTests), tests.refused?.publicKey.equals(ofUsers)]).toEqual([true, true]);
  expect(tests.refused?.servers).toBe("production");
  expect(() => keysWith({ TELEGRAM_TEST_SERVERS: "yes" })).toThrow("TELEGRAM_TEST_SERVERS must be on or off");
});
