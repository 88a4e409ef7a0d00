import { afterAll, beforeAll, expect, test } from "vitest";
import { type ClientFixture, openClientFixture } from "../../test/fixtures/client-fixture.ts";
import { policyHeader, rateLimitHeader } from "./authenticate-client.ts";

let fixture: ClientFixture;
beforeAll(async () => {
  fixture = await openClientFixture({ rateLimits: { perTokenPerSecond: 5, perUserPerMinute: 2 } });
});
afterAll(() => fixture.close());

function ask({ botId, token }: { botId: string; token: string }, userId: string): Promise<Response> {
  return fetch(`${fixture.address}/client/v1/codes`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ bot_id: botId, user_tg_id: userId }),
  });
}

test("each response reports the policies and what is left of them", async () => {
  const bot = await fixture.newBot();
  const { headers } = await ask(bot, "1");
  expect(headers.get("ratelimit-policy")).toBe('"token";q=20;w=4, "user";q=2;w=60');
  expect(headers.get("ratelimit")).toBe('"token";r=19;t=1, "user";r=1;t=30');
});

test("a user's third code within a minute gets 429 with Retry-After, and other users are served", async () => {
  const bot = await fixture.newBot();
  expect([(await ask(bot, "1")).status, (await ask(bot, "1")).status]).toEqual([200, 200]);
  const refused = await ask(bot, "1");
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("30");
  expect(refused.headers.get("ratelimit")).toContain('"user";r=0;t=30');
  expect(await refused.json()).toEqual({
    error: { code: "TOO_MANY_REQUESTS", message: expect.stringContaining("30 s") },
  });
  expect((await ask(bot, "2")).status).toBe(200);
});

test("a token over its limit gets 429, and other tokens are served", async () => {
  const bot = await fixture.newBot();
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async (_, user) => (await ask(bot, `${user + 1}`)).status),
  );
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20);
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  expect((await ask(await fixture.newBot(), "1")).status).toBe(200);
});

test("requests without a valid token use up no limit", async () => {
  const bot = await fixture.newBot();
  await Promise.all(Array.from({ length: 30 }, () => ask({ ...bot, token: "ad_guess" }, "1")));
  expect((await ask(bot, "1")).headers.get("ratelimit")).toContain('"token";r=19');
});

test("the headers are structured fields of the draft", () => {
  const perToken = { name: "token", quota: 200, windowSeconds: 4 };
  expect(policyHeader([perToken, { name: "user", quota: 10, windowSeconds: 60 }])).toBe(
    '"token";q=200;w=4, "user";q=10;w=60',
  );
  expect(rateLimitHeader(perToken, { isAllowed: true, remaining: 199, waitSeconds: 1 })).toBe('"token";r=199;t=1');
});
