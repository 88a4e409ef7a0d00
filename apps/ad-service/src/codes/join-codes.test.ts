import { describeCodeResponse } from "@intermission/ad-core/client-api";
import { pageLanguages } from "@intermission/ad-core/page-language";
import { openSessionResponse, statusResponse } from "@intermission/ad-core/player-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newTelegramId } from "../../test/fixtures/app-fixture.ts";
import { type ClientFixture, codeIn, expectError, openClientFixture } from "../../test/fixtures/client-fixture.ts";
import { openViewFixture, type ViewFixture } from "../../test/fixtures/view-fixture.ts";
import { migrations } from "../migrations.ts";
import { viewPlayerRoutes } from "../views/player-routes.ts";
import { joinReward } from "./join-reward.ts";

const garden = { title: "Secret Garden" };

describe("a code that lets its user into a channel", () => {
  let fixture: ClientFixture;
  beforeAll(async () => {
    fixture = await openClientFixture();
  });
  afterAll(() => fixture.close());

  const described = async (code: string) => {
    const headers = { authorization: `Bearer ${fixture.bot.token}` };
    return describeCodeResponse.parse(
      await (await fetch(`${fixture.address}/client/v1/codes/${code}`, { headers })).json(),
    );
  };

  test("says so, also when it is issued again without the description; one of another reference does not", async () => {
    const userId = newTelegramId();
    const { code } = await codeIn(await fixture.askFor(userId, { reference: "join:-1", join: garden }));
    expect((await codeIn(await fixture.askFor(userId, { reference: "join:-1" }))).code).toBe(code);
    expect((await described(code)).join).toEqual(garden);
    const other = await codeIn(await fixture.askFor(userId));
    expect(await described(other.code)).not.toHaveProperty("join");
  });

  test.each([
    ["no title", {}],
    ["an empty title", { title: "" }],
    ["a title of 129 characters", { title: "x".repeat(129) }],
    ["a title with U+0000", { title: "a\0b" }],
    ["a text", "Secret Garden"],
  ])("is refused with %s", async (_name, join) => {
    await expectError(await fixture.askFor(newTelegramId(), { join }), 400, "BAD_REQUEST");
  });
});

describe("a view of a code that lets its viewer into a channel", () => {
  const ann = "501";
  let store: TestDatabase;
  let fixture: ViewFixture;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    fixture = await openViewFixture(store.database, viewPlayerRoutes);
    const coins = { en: { one: "coin", other: "coins" } };
    const named = "update bots set reward_per_view = 10, reward_unit = $2, publisher_api_url = $3 where bot_id = $1";
    await store.database.run({ name: "", text: named }, [fixture.botId, coins, "https://api.example.com"]);
  });
  afterEach(() => fixture.close());

  const open = async (code?: string) => {
    const launch = { bot_id: fixture.botId, init_data: fixture.initData(ann) };
    const { body } = await fixture.post("/sessions", { ...launch, ...(code !== undefined && { code }) });
    const opened = openSessionResponse.parse(body);
    if (opened.outcome !== "session") throw new Error(`no session: ${JSON.stringify(body)}`);
    return opened;
  };

  test("names the channel in place of coins, and asks no ledger about it, also when it is opened again", async () => {
    const code = await fixture.issue(ann, "join:-1", garden.title);
    for (const opened of [await open(code), await open(code)]) {
      expect(opened.code).toBe(code);
      expect(opened.rewards).toEqual({ rewarded: joinReward(garden.title) });
      expect(opened.bot).not.toHaveProperty("publisher_api_url");
    }
  });

  test("offers no further ad when it is watched, which would earn something else", async () => {
    const code = await fixture.issue(ann, "join:-1", garden.title);
    const view = await fixture.begin(ann, code);
    await fixture.play(view, 0, 10);
    await fixture.report(view, { closed: "tap" });
    const status = statusResponse.parse((await fixture.status(view, { next_ad: true })).body);
    expect(status.state).toBe("rewarded");
    expect(status).not.toHaveProperty("next_ad");
  });

  test("is that of its own launch only: a launch without a code earns coins", async () => {
    const code = await fixture.issue(ann, "join:-1", garden.title);
    const opened = await open();
    expect(opened.code).not.toBe(code);
    expect(opened.rewards?.rewarded).toMatchObject({ amount: 10 });
    expect(opened.bot.publisher_api_url).toBe("https://api.example.com");
  });
});

describe("the words for a place in a channel", () => {
  test("are there in every language, without a number, and name the channel", () => {
    const { unit } = joinReward("Secret Garden");
    expect(Object.keys(unit).sort()).toEqual([...pageLanguages].sort());
    const words = Object.values(unit).map(({ whole }) => whole);
    for (const word of words) expect(word).toContain("Secret Garden");
    expect(new Set(words).size).toBe(pageLanguages.length);
    expect(unit.en?.whole).toBe("a place in Secret Garden");
  });

  test("shorten a long title by whole characters, and isolate one of the other direction", () => {
    const flags = "🇺🇦".repeat(40);
    expect(joinReward(flags).unit.en?.whole).toBe(`a place in ${"🇺🇦".repeat(31)}…`);
    expect(joinReward("حديقة").unit.en?.whole).toBe("a place in \u2068حديقة\u2069");
    expect(joinReward("حديقة").unit.ar?.whole).toBe("مكان في حديقة");
    expect(joinReward("Garden").unit.ar?.whole).toBe("مكان في \u2068Garden\u2069");
    expect(joinReward("$& $1 {title}").unit.en?.whole).toBe("a place in $& $1 {title}");
  });
});
