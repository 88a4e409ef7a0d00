import { generateKeyPairSync } from "node:crypto";
import { signInitData } from "@intermission/ad-core/telegram-init-data";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestApi, type TestApi, testConfig } from "../../test/fixtures/api-fixture.ts";
import { migrations } from "../migrations.ts";

const privateKey = generateKeyPairSync("ed25519")
  .privateKey.export({ type: "pkcs8", format: "der" })
  .toString("base64");

function initDataOf(userId: string, { ageSeconds = 0, botToken = testConfig.telegramBotToken } = {}): string {
  const authDate = Math.floor(Date.now() / 1000) - ageSeconds;
  const fields = { auth_date: String(authDate), user: `{"id":${userId},"first_name":"Ada"}` };
  return signInitData({ fields, botToken, botId: testConfig.botId, privateKey });
}

describe("a Telegram user", () => {
  let store: TestDatabase;
  let api: TestApi;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    api = await startTestApi(store.database);
    for (const userId of ["1", "2"]) {
      await api.deliver({ event: "rewarded", user_tg_id: userId, event_id: `evt_${userId}`, code: `code${userId}` });
    }
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  const signIn = async (userId: string) => {
    const outcome = await api.client("").telegramUser.signIn.mutate({ initData: initDataOf(userId) });
    if (outcome.outcome !== "signed-in") throw new Error("the sign-in was refused");
    return { ...outcome, rewards: api.client(`Bearer ${outcome.sessionToken}`).rewards };
  };
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => "allowed",
      ({ data }) => data?.code,
    );

  test("launch data are exchanged for a session of their user", async () => {
    const ada = await signIn("1");
    expect(ada.user).toEqual({ id: "1" });
    expect(new Date(ada.expiresAt).getTime() - Date.now()).toBeGreaterThan(3_600_000);
    expect(await ada.rewards.status.query({ code: "code1" })).toMatchObject({
      outcome: "credited",
      amount: 10,
      balance: 10,
    });
    expect(await ada.rewards.balance.query({})).toEqual({ balance: 10 });
  });

  test("a user reads only their own rewards, whatever they request", async () => {
    const { rewards } = await signIn("1");
    expect(await rewards.status.query({ code: "code2" })).toEqual({ outcome: "not-yet" });
    expect((await rewards.list.query({})).entries.map(({ userId }) => userId)).toEqual(["1"]);
    expect(await refusal(rewards.status.query({ code: "code2", userId: "2" }))).toBe("FORBIDDEN");
    expect(await refusal(rewards.list.query({ userId: "2" }))).toBe("FORBIDDEN");
    expect(await refusal(rewards.balance.query({ userId: "2" }))).toBe("FORBIDDEN");
  });

  test("the backend's procedures are closed to users and to unknown callers", async () => {
    const { sessionToken } = await signIn("1");
    const attempts = (authorization: string) => {
      const client = api.client(authorization);
      return [
        client.codes.create.mutate({ userId: "1" }),
        client.rewards.spend.mutate({ userId: "1", amount: 1, idempotencyKey: "k" }),
        client.rewards.cursor.query(),
        client.receipts.latest.query({}),
      ].map(refusal);
    };
    expect(new Set(await Promise.all(attempts(`Bearer ${sessionToken}`)))).toEqual(new Set(["FORBIDDEN"]));
    for (const stranger of ["", "Bearer wrong", `Basic ${testConfig.backendApiKey}`]) {
      expect(new Set(await Promise.all(attempts(stranger)))).toEqual(new Set(["UNAUTHORIZED"]));
    }
  });

  test("stale, foreign and forged launch data are refused with the reason", async () => {
    const { telegramUser } = api.client("");
    const outcomeOf = (initData: string) => telegramUser.signIn.mutate({ initData });
    const botToken = "7000000001:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB";
    expect(await outcomeOf(initDataOf("1", { ageSeconds: 24 * 3600 + 1 }))).toEqual({
      outcome: "refused",
      reason: "expired",
    });
    expect(await outcomeOf(initDataOf("1", { botToken }))).toEqual({ outcome: "refused", reason: "invalid" });
    expect(await outcomeOf(initDataOf("1").replace("%3A1%2C", "%3A2%2C"))).toEqual({
      outcome: "refused",
      reason: "invalid",
    });
    expect(await outcomeOf("user_tg_id=1")).toEqual({ outcome: "refused", reason: "invalid" });
  });

  test("launch data of 70 minutes, from an app in the background, still shows the user the reward", async () => {
    const signedIn = await api.client("").telegramUser.signIn.mutate({
      initData: initDataOf("1", { ageSeconds: 70 * 60 }),
    });
    if (signedIn.outcome !== "signed-in") throw new Error(`refused: ${signedIn.reason}`);
    const { rewards } = api.client(`Bearer ${signedIn.sessionToken}`);
    expect(await rewards.status.query({ code: "code1" })).toMatchObject({ outcome: "credited" });
  });

  test("a session ends at the latest when its launch data is a day old", async () => {
    const signedIn = await api.client("").telegramUser.signIn.mutate({
      initData: initDataOf("1", { ageSeconds: 23 * 3600 }),
    });
    if (signedIn.outcome !== "signed-in") throw new Error(`refused: ${signedIn.reason}`);
    expect(Date.parse(signedIn.expiresAt) - Date.now()).toBeLessThanOrEqual(3_600_000);
  });

  test("sign-ins are limited by user and by address, and the answer reports it", async () => {
    const refusals = async (limits: { perAddress: number; perUser: number }, initData: () => string) => {
      const bounded = await startTestApi(store.database, {}, undefined, { signInLimits: limits });
      const { telegramUser } = bounded.client("");
      const answers: string[] = [];
      for (let count = 0; count < 4; count++)
        answers.push(await refusal(telegramUser.signIn.mutate({ initData: initData() })));
      const body = JSON.stringify({ initData: initData() });
      const headers = { "content-type": "application/json" };
      const last = await fetch(`${bounded.url}/trpc/telegramUser.signIn`, { method: "POST", headers, body });
      expect(last.status).toBe(429);
      expect(last.headers.get("retry-after")).toMatch(/^(29|30)$/);
      await bounded.stop();
      return answers;
    };
    const bounded = ["allowed", "allowed", "TOO_MANY_REQUESTS", "TOO_MANY_REQUESTS"];
    expect(await refusals({ perAddress: 100, perUser: 2 }, () => initDataOf("1"))).toEqual(bounded);
    // Rewritten data still belongs to the same user: here in another order, and with another case of an escape.
    const respelled = [
      (text: string) => text.split("&").toReversed().join("&"),
      (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      (text: string) => text.replace("user=", "%75ser="),
    ];
    let spelling = 0;
    const initData = () => (respelled[spelling++ % 3] ?? String)(initDataOf("1"));
    expect(await refusals({ perAddress: 100, perUser: 2 }, initData)).toEqual(bounded);
    let user = 10;
    expect(await refusals({ perAddress: 2, perUser: 100 }, () => initDataOf(String(user++)))).toEqual(bounded);
    // Sign-ins that were refused as forged count, too.
    expect(await refusals({ perAddress: 2, perUser: 100 }, () => "user_tg_id=1")).toEqual(bounded);
  });

  test("only the mini-app's page may call from a browser", async () => {
    const preflight = async (origin: string) => {
      const headers = {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
      };
      const response = await fetch(`${api.url}/trpc/rewards.status`, { method: "OPTIONS", headers });
      return response.headers.get("access-control-allow-origin");
    };
    expect(await preflight("https://ads.example")).toBe("https://ads.example");
    expect(await preflight("https://evil.example")).not.toBe("https://evil.example");
  });
});
