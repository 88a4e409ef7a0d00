import { availabilityResponse, createCodeResponse } from "@intermission/ad-core/client-api";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { rewardUnitOption } from "./bot-settings.ts";

const operatorToken = "an-operators-token-of-some-length";
const coins = {
  en: { one: "coin", other: "coins" },
  ru: { one: "монета", few: "монеты", many: "монет", other: "монеты" },
};

let store: TestDatabase;
let fixture: AppFixture;
let bot: { botId: string; token: string };
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  fixture = await openAppFixture(store.database, { operatorToken });
  bot = await fixture.newBot();
});
afterAll(async () => {
  await fixture.close();
  await store.dispose();
});

async function change(settings: object) {
  const response = await fetch(`${fixture.address}/operator/v1/bots/${bot.botId}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify(settings),
  });
  const body = (await response.json()) as Record<string, unknown> & { error?: { message: string } };
  return { status: response.status, body };
}

async function asPublisher() {
  const headers = { authorization: `Bearer ${bot.token}`, "content-type": "application/json" };
  const body = JSON.stringify({ bot_id: bot.botId, user_tg_id: "42" });
  const code = await fetch(`${fixture.address}/client/v1/codes`, { method: "POST", headers, body });
  const availability = await fetch(`${fixture.address}/client/v1/availability?user_tg_id=42`, { headers });
  return [createCodeResponse.parse(await code.json()), availabilityResponse.parse(await availability.json())];
}

describe("a bot's named reward", () => {
  test("is absent until the bot has a unit and an amount, then comes with codes and availability", async () => {
    for (const answer of await asPublisher()) expect(answer).not.toHaveProperty("rewards");
    expect((await change({ rewardUnit: coins })).status).toBe(200);
    for (const answer of await asPublisher()) expect(answer).not.toHaveProperty("rewards");
    const changed = await change({ rewardPerView: 10, rewardPerClick: 3 });
    expect(changed.body).toMatchObject({ rewardPerView: 10, rewardPerClick: 3, rewardUnit: coins });
    for (const answer of await asPublisher()) {
      expect(answer.rewards).toEqual({
        rewarded: { amount: 10, unit: coins },
        direct_link: { amount: 3, unit: coins },
      });
    }
    await change({ name: "Other setting" });
    await change({ rewardPerClick: null });
    for (const answer of await asPublisher()) {
      expect(answer.rewards).toEqual({ rewarded: { amount: 10, unit: coins } });
    }
    expect((await change({ rewardUnit: null })).body.error?.message).toContain("must be set while");
    await change({ rewardUnit: null, rewardPerView: null });
    expect((await change({ rewardPerView: 10 })).body.error?.message).toContain("rewardUnit");
    for (const answer of await asPublisher()) expect(answer).not.toHaveProperty("rewards");
  });

  test.each([
    [{ rewardPerView: 0 }, "whole number"],
    [{ rewardPerView: 1.5 }, "whole number"],
    [{ rewardPerClick: 2e9 }, "whole number"],
    [{ rewardUnit: {} }, "1 to 40 languages"],
    [{ rewardUnit: { xx: { other: "coins" } } }, '"xx" is not a language'],
    [{ rewardUnit: { "pt-BR": { other: "moedas" } } }, '"pt-BR" is not a language'],
    [{ rewardUnit: { "no language": { other: "coins" } } }, "is not a language"],
    [{ rewardUnit: { en: { one: "coin" } } }, "en needs the plural forms one, other"],
    [{ rewardUnit: { ru: { one: "монета", other: "монеты" } } }, "ru needs the plural forms one, few, many"],
    [{ rewardUnit: { en: { one: "coin", other: "co\u202eins" } } }, "control characters"],
    [{ rewardUnit: { en: { other: "coins", few: "coins" } } }, "en has the plural forms one, other"],
    [{ rewardUnit: { en: { one: "coin", other: " " } } }, "1 to 32 characters"],
    [{ rewardUnit: { en: { one: "coin", other: "x".repeat(33) } } }, "1 to 32 characters"],
    [{ rewardUnit: "coins" }, "rewardUnit"],
  ])("is refused with its fault: %j", async (settings, message) => {
    const refused = await change(settings);
    expect(refused.status).toBe(400);
    expect(refused.body.error?.message).toContain(message);
  });

  test("may have the joiners that Persian words contain", async () => {
    const unit = { fa: { one: "سکه", other: "سکه\u200cها" } };
    expect((await change({ rewardUnit: unit })).body).toMatchObject({ rewardUnit: unit });
  });

  test("is typed one language at a time", () => {
    const english = rewardUnitOption("en:one=coin,other=coins");
    expect(rewardUnitOption("ru:one=монета, few=монеты,many=монет,other=монеты", english)).toEqual(coins);
    expect(rewardUnitOption("none", english)).toBe("none");
    for (const wrong of ["coins", "en:", "en:coins", "en:one=", ":one=a"]) {
      expect(() => rewardUnitOption(wrong)).toThrow("such as en:one=coin,other=coins");
    }
  });
});
