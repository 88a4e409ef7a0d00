import { connect } from "node:net";
import { errorEnvelope } from "@intermission/ad-core/client-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resumeBot, suspendBot } from "../src/bots/change-bot.ts";
import { revokeToken } from "../src/bots/tokens.ts";
import { openAppFixture } from "./fixtures/app-fixture.ts";
import { bearer, type ClientFixture, expectError, openClientFixture } from "./fixtures/client-fixture.ts";

let fixture: ClientFixture;
beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

const asked = () => ({ bot_id: fixture.bot.botId, user_tg_id: "1" });

describe("authentication of the caller", () => {
  test.each([
    ["no header", {}],
    ["an empty header", { authorization: "" }],
    ["another scheme", { authorization: "Basic YWQ6eA==" }],
    ["no token", { authorization: "Bearer" }],
    ["text that is no token", { authorization: "Bearer 123" }],
    ["two tokens", { authorization: "Bearer ad_a ad_b" }],
    ["an unknown token", { authorization: `Bearer ad_${"7".repeat(43)}` }],
  ])("a caller with %s receives 401", async (_name, headers) => {
    const response = await fixture.createCode(asked(), headers);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    await expectError(response, 401, "UNAUTHORIZED");
  });

  test("a caller with an invalid token receives 401 whatever else is wrong", async () => {
    await expectError(await fixture.createCode("{", bearer("x")), 401, "UNAUTHORIZED");
  });

  test("a caller with a token that was revoked a moment ago receives 401", async () => {
    const { botId, token, tokenId } = await fixture.newBot();
    expect((await fixture.get("/events", bearer(token))).status).toBe(200);
    await revokeToken(fixture.apiTokens, { botId, tokenId, now: fixture.clock.now });
    await expectError(await fixture.get("/events", bearer(token)), 401, "UNAUTHORIZED");
  });

  test("the caller of a suspended bot receives 403 until the bot is resumed", async () => {
    const { botId, token } = await fixture.newBot();
    const ask = () => fixture.createCode({ bot_id: botId, user_tg_id: "1" }, bearer(token));
    expect((await ask()).status).toBe(200);
    await suspendBot(fixture.bots, { botId, now: fixture.clock.now });
    await expectError(await ask(), 403, "BOT_SUSPENDED");
    await resumeBot(fixture.bots, { botId, now: fixture.clock.now });
    expect((await ask()).status).toBe(200);
  });
});

describe("every path under /client/ returns errors in the envelope", () => {
  test.each(["/client/", "/client/v1", "/client/v1/", "/client/v1/nothing", "/client/v2/codes", "/client/v1/codes/"])(
    "unknown: %s",
    async (path) => {
      await expectError(await fetch(fixture.address + path, { headers: bearer(fixture.bot.token) }), 404, "NOT_FOUND");
    },
  );

  test.each([
    ["GET", "/codes", "POST"],
    ["DELETE", "/codes", "POST"],
    ["PUT", "/codes", "POST"],
    ["POST", "/events", "GET, HEAD"],
    ["POST", "/availability", "GET, HEAD"],
    ["PATCH", "/codes/abc", "GET, HEAD"],
  ])("wrong method: %s %s", async (method, path, allow) => {
    const headers = bearer(fixture.bot.token);
    const response = await fetch(`${fixture.address}/client/v1${path}`, { method, headers });
    expect(response.headers.get("allow")).toBe(allow);
    await expectError(response, 405, "METHOD_NOT_ALLOWED");
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/xml"])("a body of %s", async (type) => {
    const response = await fixture.createCode(asked(), { ...bearer(fixture.bot.token), "content-type": type });
    await expectError(response, 415, "UNSUPPORTED_MEDIA_TYPE");
  });

  test("a body that is too large", async () => {
    await expectError(await fixture.askFor("1", { reference: "x".repeat(70_000) }), 413, "BODY_TOO_LARGE");
  });

  test("a malformed body; nothing of it is echoed", async () => {
    const response = await fixture.createCode('{"bot_id":"secret-text');
    expect(await response.clone().text()).not.toContain("secret-text");
    await expectError(response, 400, "BAD_REQUEST");
  });

  test("a crash; its details are not exposed", async () => {
    const { database } = fixture;
    const run: typeof database.run = (toRun, values) =>
      toRun.name.startsWith("campaigns.") ? database.run(toRun, values) : Promise.reject(new Error("secret detail"));
    const lame = await openAppFixture({ ...database, run });
    try {
      const response = await fetch(`${lame.address}/client/v1/events`, { headers: bearer(fixture.bot.token) });
      expect(await response.clone().text()).not.toContain("secret detail");
      await expectError(response, 500, "INTERNAL");
    } finally {
      await lame.close();
    }
  });

  test("a commit with an unknown outcome", async () => {
    const { database } = fixture;
    const run: typeof database.run = (toRun, values) =>
      toRun.name === "codes.issue" ? Promise.reject(new Error("the connection broke")) : database.run(toRun, values);
    const lame = await openAppFixture({ ...database, run });
    try {
      const headers = { ...bearer(fixture.bot.token), "content-type": "application/json" };
      const body = JSON.stringify(asked());
      const response = await fetch(`${lame.address}/client/v1/codes`, { method: "POST", headers, body });
      expect(response.headers.get("retry-after")).toBe("5");
      await expectError(response, 503, "UNAVAILABLE");
    } finally {
      await lame.close();
    }
  });

  test.each(["/client/v1/codes/%zz", "/client/v1/%", `/client/v1/codes/${"x".repeat(500)}`])(
    "a malformed address: %s",
    async (path) => {
      const answer = await speakRawHttp(
        `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${fixture.bot.token}`,
      );
      expect([400, 404, 414]).toContain(answer.status);
      errorEnvelope.parse(JSON.parse(answer.body));
    },
  );

  test.each(["NONSENSE", "GET /client/v1/codes HTTP/9.9", "GET /client/v1/codes HTTP/1.1\r\nbad header: \x01"])(
    "what is hardly HTTP: %j",
    async (head) => {
      const answer = await speakRawHttp(head);
      expect(answer.status).toBe(400);
      errorEnvelope.parse(JSON.parse(answer.body));
    },
  );
});

async function speakRawHttp(head: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(fixture.address).port), "127.0.0.1");
  socket.end(`${head}\r\nconnection: close\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const answer = Buffer.concat(chunks).toString();
  const [, status = "", body = ""] = /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n([\s\S]*)$/.exec(answer) ?? [];
  return { status: Number(status), body };
}
