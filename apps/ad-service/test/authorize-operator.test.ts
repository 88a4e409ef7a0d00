import { connect } from "node:net";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../src/migrations.ts";
import { type AppFixture, openAppFixture } from "./fixtures/app-fixture.ts";

const operatorToken = "an operator's token of some length";

let store: TestDatabase;
let open: AppFixture;
let closed: AppFixture;
beforeAll(async () => {
  store = await openTestDatabase({ schema: "ad_service", migrations });
  open = await openAppFixture(store.database, { operatorToken: operatorToken.replaceAll(" ", "_") });
  closed = await openAppFixture(store.database);
});
afterAll(async () => {
  await open.close();
  await closed.close();
  await store.dispose();
});

const list = (fixture: AppFixture, headers: Record<string, string> = {}) =>
  fetch(`${fixture.address}/operator/v1/bots`, { headers }).then(({ status }) => status);

test("only the operator's token grants access", async () => {
  const good = operatorToken.replaceAll(" ", "_");
  expect(await list(open, { authorization: `Bearer ${good}` })).toBe(200);
  for (const bad of [`Bearer ${good}x`, `Bearer ${good.slice(1)}`, `Basic ${good}`, good, "Bearer", ""]) {
    expect(await list(open, { authorization: bad })).toBe(401);
  }
  expect(await list(open)).toBe(401);
});

test("a bot's token is not accepted as the operator's", async () => {
  const { token } = await open.newBot();
  expect(await list(open, { authorization: `Bearer ${token}` })).toBe(401);
});

test("without an operator's token there is no access over the network, whatever is sent", async () => {
  expect(await list(closed)).toBe(404);
  expect(await list(closed, { authorization: "Bearer " })).toBe(404);
  expect(await list(closed, { authorization: "Bearer undefined" })).toBe(404);
});

test("a connection that closes immediately is not mistaken for the operator's socket", async () => {
  const body = JSON.stringify({ botId: "4242" });
  const head = `POST /operator/v1/bots HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const port = Number(new URL(closed.address).port);
  for (let attempt = 0; attempt < 20; attempt++) {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(head + body, () => socket.resetAndDestroy());
    });
    await new Promise((resolve) => socket.once("close", resolve));
  }
  const text = "select bot_id from bots where bot_id = '4242'";
  expect(await store.database.run({ name: "", text }, [])).toEqual([]);
});
