import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AppFixture, openAppFixture } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";

const operatorToken = "operator-token-of-32-characters-or-more";

describe("notices over the operator's API", () => {
  let store: TestDatabase;
  let fixture: AppFixture;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    fixture = await openAppFixture(store.database, { operatorToken });
  });
  afterAll(async () => {
    await fixture.close();
    await store.dispose();
  });

  async function call(botId: string, body?: object) {
    const answer = await fetch(`${fixture.address}/operator/v1/bots/${botId}/notices`, {
      headers: { authorization: `Bearer ${operatorToken}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { method: "PATCH", body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: JSON.parse(text) };
  }

  test("addresses are set, shown and removed one by one", async () => {
    const { botId } = await fixture.newBot({ webhookUrl: "http://bot.test/hook" });
    expect(await call(botId)).toEqual({ status: 200, body: { botId, receivers: [] } });
    await call(botId, { webhookUrl: "http://ops.test/health", email: "ops@example.com" });
    await call(botId, { email: null, telegramChatId: "-1001234567890" });
    const receivers = [
      { channel: "telegram", address: "-1001234567890", health: "recovered", lastError: null },
      { channel: "webhook", address: "http://ops.test/health", lastSentAt: null, dueAt: null, attempts: 0 },
    ];
    expect((await call(botId)).body).toMatchObject({ receivers });
  });

  test.each([
    [{ webhookUrl: "http://bot.test/hook" }, "webhookUrl must be another address than the bot's webhook"],
    [{ webhookUrl: "ops.test" }, "webhookUrl: must be an address as https://example.com/webhooks"],
    [{ email: "ops" }, "email: must be an e-mail address such as ops@example.com"],
    [{ telegramChatId: "me" }, "telegramChatId: must be the id of a chat, such as -1001234567890, or its @name"],
  ])("%j is refused with what is wrong: %s", async (addresses, message) => {
    const { botId } = await fixture.newBot({ webhookUrl: "http://bot.test/hook" });
    const refused = await call(botId, addresses);
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain(message);
    expect((await call(botId)).body).toMatchObject({ receivers: [] });
  });

  test("an unknown bot is 404", async () => {
    expect([(await call("77")).status, (await call("77", { email: null })).status]).toEqual([404, 404]);
  });
});
