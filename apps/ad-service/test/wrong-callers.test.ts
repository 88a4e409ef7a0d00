import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { viewPlayerRoutes } from "../src/views/player-routes.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { openViewFixture } from "./fixtures/view-fixture.ts";

let store: TestDatabase;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
});
afterAll(() => store.dispose());

test("forged launch data is limited by address; an authentic launch from it is accepted all the same", async () => {
  const fixture = await openViewFixture(store.database, (app, deps) => viewPlayerRoutes(app, deps));
  const open = async (initData: string) =>
    (await fixture.post("/sessions", { bot_id: fixture.botId, init_data: initData })).status;
  const authentic = fixture.initData("501");
  const forged = await Promise.all(
    Array.from({ length: 150 }, (_, at) => open(authentic.replace("501", String(600 + at)))),
  );
  expect(forged.filter((status) => status === 401)).toHaveLength(20);
  expect(forged.filter((status) => status === 429)).toHaveLength(130);
  expect(await open("")).toBeGreaterThanOrEqual(400);
  expect(await open(authentic)).toBe(200);
  await fixture.close();
});

test.each([
  ["reports", { reports: [] }],
  ["faults", { fault: "other" }],
  ["status", {}],
  ["ad-reports", { reason: "other" }],
])(
  "forged tokens of sessions are limited by address (%s); a right one is accepted all the same",
  async (call, body) => {
    const fixture = await openViewFixture(store.database, (app, deps) => viewPlayerRoutes(app, deps));
    const { body: opened } = await fixture.post("/sessions", {
      bot_id: fixture.botId,
      init_data: fixture.initData("501"),
    });
    const [id, token] = [String(opened.session_id), String(opened.token)];
    const ask = async (sessionId: string, withToken: string) =>
      (await fixture.post(`/sessions/${sessionId}/${call}`, { token: withToken, ...body })).status;
    // Of sessions of many names: each session has a limit of its own.
    const forged = await Promise.all(
      Array.from({ length: 40 }, (_, at) => ask(`${id.slice(0, -3)}${100 + at}`, token)),
    );
    expect(forged.filter((status) => status === 401)).toHaveLength(20);
    expect(forged.filter((status) => status === 429)).toHaveLength(20);
    expect(await ask(id, token)).toBe(200);
    await fixture.close();
  },
);

test("wrong tokens of bots are counted by a metric, those of suspended bots and right ones are not", async () => {
  const metricsToken = "m".repeat(32);
  const fixture = await openAppFixture(store.database, {
    metrics: { token: metricsToken, host: "127.0.0.1", port: undefined },
  });
  const read = async () => {
    const answer = await fetch(`${fixture.address}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } });
    return /intermission_wrong_tokens_total\{[^}]*setting="api_token"[^}]*\} (\d+)/.exec(await answer.text())?.[1];
  };
  const call = async (authorization?: string) =>
    (
      await fetch(`${fixture.address}/client/v1/events`, {
        headers: { ...(authorization !== undefined && { authorization }) },
      })
    ).status;
  expect(await read()).toBe("0");
  const { token } = await fixture.newBot();
  expect(await call(`Bearer ${token}`)).toBe(200);
  for (const wrong of [undefined, "Bearer x", `Bearer ad_${"7".repeat(43)}`, `Basic ${token}`])
    expect(await call(wrong)).toBe(401);
  expect(await read()).toBe("4");
  await fixture.close();
});
