import { connect } from "node:net";
import { createCodeResponse, errorEnvelope, listEventsResponse } from "@intermission/ad-core/client-api";
import { openTestDatabase, type TestDatabase, testDatabases } from "@intermission/postgres/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { AdTables } from "../ad-database.ts";
import { type AppStage, newTelegramId, openAppStage } from "../app-stage.ts";
import { revokeToken } from "../bots/revoke-token.ts";
import { resumeBot, suspendBot } from "../bots/update-bot.ts";
import { allMigrations } from "../migrations/all-migrations.ts";

describe.each(testDatabases())("the client API on the %s store", (kind) => {
  let store: TestDatabase<AdTables>;
  let stage: AppStage;
  let bot: { botId: string; token: string; tokenId: string };
  beforeAll(async () => {
    store = await openTestDatabase<AdTables>({ kind, schema: "ad_service", migrations: allMigrations });
    stage = await openAppStage(store.database);
    bot = await stage.newBot();
  });
  afterAll(async () => {
    await stage.close();
    await store.dispose();
  });
  beforeEach(() => {
    stage.clock.now = new Date("2026-03-01T12:00:00.000Z");
  });

  const bearer = (token = bot.token) => ({ authorization: `Bearer ${token}` });
  const json = { "content-type": "application/json" };

  function createCode(body: unknown, headers: Record<string, string> = bearer()): Promise<Response> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return fetch(`${stage.address}/client/v1/codes`, { method: "POST", headers: { ...json, ...headers }, body: text });
  }
  const ask = (userId: string, more: object = {}) => createCode({ bot_id: bot.botId, user_tg_id: userId, ...more });
  const get = (path: string, headers: Record<string, string> = bearer()) =>
    fetch(`${stage.address}/client/v1${path}`, { headers });

  const codeIn = async (response: Response) => createCodeResponse.parse(await response.json());
  const errorIn = async (response: Response) => errorEnvelope.parse(await response.json()).error;

  async function expectError(response: Response, status: number, code: string): Promise<void> {
    const body = await response.json();
    expect({ status: response.status, code: errorEnvelope.strict().parse(body).error.code }).toEqual({ status, code });
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.headers.get("x-request-id")).toBeTruthy();
  }

  describe("creating a code", () => {
    test("answers exactly 200 with code, expires_in and expires_at, and nothing else", async () => {
      stage.clock.now = new Date("2026-03-01T12:00:00.400Z");
      const response = await ask(newTelegramId());
      const body = await response.json();
      expect(response.status).toBe(200);
      expect(createCodeResponse.strict().parse(body)).toEqual({
        code: expect.stringMatching(/^[0-9A-Za-z]{16}$/),
        expires_in: 3600,
        expires_at: "2026-03-01T13:00:01Z",
      });
    });

    test("gives an open code again, with less time left", async () => {
      const userId = newTelegramId();
      const first = await codeIn(await ask(userId));
      stage.clock.now = new Date("2026-03-01T12:10:00.001Z");
      expect(await (await ask(userId)).json()).toEqual({ ...first, expires_in: 2999 });
    });

    test("64 parallel requests for one user give one code", async () => {
      const userId = newTelegramId();
      const answers = await Promise.all(Array.from({ length: 64 }, () => ask(userId)));
      const codes = await Promise.all(answers.map(async (answer) => (await codeIn(answer)).code));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(codes).size).toBe(1);
    });

    test("passes over fields that it does not know", async () => {
      expect((await ask(newTelegramId(), { campaign: "spring" })).status).toBe(200);
    });

    test.each([
      ["a bot_id that is a JSON number", () => ({ bot_id: Number(bot.botId), user_tg_id: "1" })],
      ["a user_tg_id that is a JSON number", () => ({ bot_id: bot.botId, user_tg_id: 12345 })],
      ["a user_tg_id with a leading zero", () => ({ bot_id: bot.botId, user_tg_id: "012" })],
      ["a negative user_tg_id", () => ({ bot_id: bot.botId, user_tg_id: "-12" })],
      ["a user_tg_id with a newline", () => ({ bot_id: bot.botId, user_tg_id: "12\n" })],
      ["a user_tg_id of 21 digits", () => ({ bot_id: bot.botId, user_tg_id: "1".repeat(21) })],
      ["no user_tg_id", () => ({ bot_id: bot.botId })],
      ["a reference of 129 characters", () => ({ bot_id: bot.botId, user_tg_id: "1", reference: "x".repeat(129) })],
      ["an empty reference", () => ({ bot_id: bot.botId, user_tg_id: "1", reference: "" })],
      ["a reference with U+0000", () => ({ bot_id: bot.botId, user_tg_id: "1", reference: "a\0b" })],
      ["half a surrogate pair", () => `{"bot_id":"${bot.botId}","user_tg_id":"1","reference":"\\ud800"}`],
      ["an array", () => []],
      ["null", () => "null"],
      ["malformed JSON", () => '{"bot_id":'],
      ["an empty body", () => ""],
      ["a poisoned prototype", () => `{"__proto__":{"a":1},"bot_id":"${bot.botId}","user_tg_id":"1"}`],
    ])("refuses %s with 400", async (_name, body) => {
      await expectError(await createCode(body()), 400, "BAD_REQUEST");
    });

    test("names the field at fault in the details, and no value", async () => {
      const error = await errorIn(await createCode({ bot_id: bot.botId, user_tg_id: 987654321 }));
      expect(error.details).toEqual([{ field: "user_tg_id", message: expect.any(String) }]);
      expect(JSON.stringify(error)).not.toContain("987654321");
    });

    test("echoes nothing of a malformed body", async () => {
      const error = await errorIn(await createCode('{"bot_id":"secret-text'));
      expect(JSON.stringify(error)).not.toContain("secret-text");
    });

    test("refuses another bot's id with 403", async () => {
      const other = await stage.newBot();
      await expectError(await createCode({ bot_id: other.botId, user_tg_id: "1" }), 403, "FORBIDDEN");
    });

    test("refuses what is no JSON with 415, and what is too large with 413", async () => {
      const body = JSON.stringify({ bot_id: bot.botId, user_tg_id: "1" });
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/xml"]) {
        await expectError(await createCode(body, { ...bearer(), "content-type": type }), 415, "UNSUPPORTED_MEDIA_TYPE");
      }
      await expectError(await ask("1", { reference: "x".repeat(70_000) }), 413, "BODY_TOO_LARGE");
    });
  });

  describe("the caller", () => {
    test.each([
      ["no header", {}],
      ["an empty header", { authorization: "" }],
      ["another scheme", { authorization: "Basic YWQ6eA==" }],
      ["no token", { authorization: "Bearer" }],
      ["text that is no token", { authorization: "Bearer 123" }],
      ["two tokens", { authorization: "Bearer ad_a ad_b" }],
      ["an unknown token", { authorization: `Bearer ad_${"7".repeat(43)}` }],
    ])("with %s is answered 401", async (_name, headers) => {
      const response = await createCode({ bot_id: bot.botId, user_tg_id: "1" }, headers);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      await expectError(response, 401, "UNAUTHORIZED");
    });

    test("with a bad token is answered 401 whatever else is wrong", async () => {
      await expectError(await createCode("{", { authorization: "Bearer x" }), 401, "UNAUTHORIZED");
    });

    test("with a token that was revoked a moment ago is answered 401", async () => {
      const { botId, token, tokenId } = await stage.newBot();
      expect((await get("/events", bearer(token))).status).toBe(200);
      await revokeToken(store.database, { botId, tokenId, now: stage.clock.now });
      await expectError(await get("/events", bearer(token)), 401, "UNAUTHORIZED");
    });

    test("of a suspended bot is answered 403 until it is resumed", async () => {
      const { botId, token } = await stage.newBot();
      await suspendBot(store.database, { botId, now: stage.clock.now });
      const refused = await createCode({ bot_id: botId, user_tg_id: "1" }, bearer(token));
      await expectError(refused, 403, "BOT_SUSPENDED");
      await resumeBot(store.database, { botId, now: stage.clock.now });
      expect((await createCode({ bot_id: botId, user_tg_id: "1" }, bearer(token))).status).toBe(200);
    });
  });

  describe("every path under /client/ answers errors with the envelope", () => {
    test.each(["/client/", "/client/v1", "/client/v1/", "/client/v1/nothing", "/client/v2/codes", "/client/v1/codes/"])(
      "unknown: %s",
      async (path) => {
        const response = await fetch(`${stage.address}${path}`, { headers: bearer() });
        await expectError(response, 404, "NOT_FOUND");
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
      const response = await fetch(`${stage.address}/client/v1${path}`, { method, headers: bearer() });
      expect(response.headers.get("allow")).toBe(allow);
      await expectError(response, 405, "METHOD_NOT_ALLOWED");
    });

    test("a crash, which tells nothing of itself", async () => {
      const lame = await openAppStage({ ...store.database, run: () => Promise.reject(new Error("secret detail")) });
      try {
        const url = `${lame.address}/client/v1/codes`;
        const response = await fetch(url, { method: "POST", headers: { ...json, ...bearer() }, body: "{}" });
        expect(await response.clone().text()).not.toContain("secret detail");
        await expectError(response, 500, "INTERNAL");
      } finally {
        await lame.close();
      }
    });

    test.each(["/client/v1/codes/%zz", "/client/v1/%", `/client/v1/codes/${"x".repeat(500)}`])(
      "a malformed address: %s",
      async (path) => {
        const answer = await speakRawHttp(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bot.token}`);
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
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

  describe("describing a code", () => {
    test("tells what is known of it", async () => {
      const userId = newTelegramId();
      const { code } = await codeIn(await ask(userId, { reference: "order-1" }));
      stage.clock.now = new Date("2026-03-01T13:00:00.000Z");
      expect(await (await get(`/codes/${code}`)).json()).toEqual({
        code,
        bot_id: bot.botId,
        user_tg_id: userId,
        reference: "order-1",
        issued_at: "2026-03-01T12:00:00.000Z",
        expires_at: "2026-03-01T13:00:00.000Z",
        is_expired: true,
        earned: [],
        sessions: [],
        clicks: {},
      });
    });

    test("of another bot, or of nobody, answers 404", async () => {
      const other = await stage.newBot();
      const { code } = await codeIn(await ask(newTelegramId()));
      await expectError(await get(`/codes/${code}`, bearer(other.token)), 404, "NOT_FOUND");
      await expectError(await get("/codes/%00"), 404, "NOT_FOUND");
    });
  });

  test("availability tells that there is no ad, and asks for a proper id", async () => {
    expect(await (await get("/availability?user_tg_id=1")).json()).toEqual({ available: false, reason: "no-ad" });
    await expectError(await get("/availability"), 400, "BAD_REQUEST");
    await expectError(await get("/availability?user_tg_id=1&user_tg_id=2"), 400, "BAD_REQUEST");
  });

  test("the feed of events begins empty, keeps its cursor and refuses a made-up one", async () => {
    const first = listEventsResponse.parse(await (await get("/events")).json());
    expect(first).toMatchObject({ events: [], has_more: false });
    expect(await (await get(`/events?after=${first.next}`)).json()).toEqual(first);
    await expectError(await get("/events?after=nonsense!"), 400, "BAD_REQUEST");
    await expectError(await get("/events?limit=0"), 400, "BAD_REQUEST");
  });

  test("the OpenAPI document is there for everybody and describes each path", async () => {
    const document: unknown = await (await get("/openapi.json", {})).json();
    const requestSchema = {
      required: ["bot_id", "user_tg_id"],
      properties: { user_tg_id: { type: "string", pattern: "^[1-9][0-9]{0,19}$" } },
    };
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      paths: {
        "/codes": { post: { requestBody: { content: { "application/json": { schema: requestSchema } } } } },
        "/codes/{code}": { get: {} },
        "/availability": { get: {} },
        "/events": { get: {} },
      },
    });
  });

  async function speakRawHttp(head: string): Promise<{ status: number; body: string }> {
    const socket = connect(Number(new URL(stage.address).port), "127.0.0.1");
    socket.end(`${head}\r\nconnection: close\r\n\r\n`);
    const chunks: Buffer[] = [];
    for await (const chunk of socket) chunks.push(chunk);
    const [, status = "", body = ""] =
      /^HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n([\s\S]*)$/.exec(Buffer.concat(chunks).toString()) ?? [];
    return { status: Number(status), body };
  }
});
