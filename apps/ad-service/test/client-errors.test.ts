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

const validRequest = () => ({ bot_id: fixture.bot.botId, user_tg_id: "1" });

test.each(["tcf", "gpp"])("a %s with a letter that its format does not have is refused, and named", async (name) => {
  for (const text of ["CP\u0000", "C P", "Cé"]) {
    const response = await fixture.createCode({ ...validRequest(), consent: { [name]: text } });
    const { error } = errorEnvelope.parse(await response.json());
    expect([response.status, error.message]).toEqual([400, expect.stringMatching(`consent.*${name}`)]);
    expect(error.message).toContain("may have only letters");
  }
  expect((await fixture.createCode({ ...validRequest(), consent: { [name]: "CP_x-1.Y~z" } })).status).toBe(200);
});

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
    const response = await fixture.createCode(validRequest(), headers);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    await expectError(response, 401, "UNAUTHORIZED");
  });

  const send = "send: Authorization: Bearer <api_token>";
  test.each([
    [{}, `the Authorization header is missing; ${send}`],
    [{ "x-api-key": "{token}" }, `the Authorization header is missing; ${send}`],
    [{ authorization: "{token}" }, `the Authorization header has a token and no word before it; ${send}`],
    [{ authorization: "Token {token}" }, `the Authorization header has another scheme than Bearer; ${send}`],
    [{ authorization: "Bearer " }, `the Authorization header has no token: the client's setting is empty; ${send}`],
    [{ authorization: "Bearer {token} {token}" }, `the Authorization header has more than one token; ${send}`],
    [
      { authorization: 'Bearer "{token}"' },
      "the token in the Authorization header is in quotes: remove them from the client's setting",
    ],
    [
      { authorization: "Bearer 7000000001:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw" },
      "the Authorization header has a token of @BotFather; this API takes the bot's API token, which begins with ad_ and which the operator of this service creates",
    ],
    [
      { authorization: "Bearer undefined" },
      "the Authorization header has no API token of this service, which is ad_ and 32 to 44 letters and digits: copy it anew",
    ],
  ])("the header %o is refused with what is wrong, where, and the next step", async (template, message) => {
    const headers = Object.fromEntries(
      Object.entries(template).map(([name, value]) => [name, value.replaceAll("{token}", fixture.bot.token)]),
    );
    const response = await fixture.createCode(validRequest(), headers);
    expect([response.status, errorEnvelope.parse(await response.json()).error.message]).toEqual([401, message]);
  });

  test.each([
    ["POST", "/client/v1/codes/", "/client/v1/codes"],
    ["POST", "//client/v1/codes", "/client/v1/codes"],
    ["POST", "/client/v1/client/v1/codes", "/client/v1/codes"],
    ["GET", "/Client/v1/Availability?user_tg_id=1", "/client/v1/availability"],
  ])("%s %s, which nothing answers, names the path that was meant", async (method, path, nearest) => {
    const response = await fetch(`${fixture.address}${path}`, { method, headers: bearer(fixture.bot.token) });
    const message = `there is nothing at this path; the nearest one is ${nearest}`;
    expect([response.status, await response.json()]).toEqual([404, { error: { code: "NOT_FOUND", message } }]);
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

describe("each mistake of a request is answered with what is wrong, where, and the next step", () => {
  const other = "7000000009";
  const json = (fields: object) => JSON.stringify({ ...validRequest(), ...fields });
  test.each<[string, () => string, string, Record<string, string>?]>([
    [
      "a number as user",
      () => json({ user_tg_id: 42 }),
      "user_tg_id: must be a string, not a number: put it in quotes",
    ],
    ["a number as bot", () => json({ bot_id: 7 }), "bot_id: must be a string, not a number: put it in quotes"],
    [
      "a username",
      () => json({ user_tg_id: "@ann" }),
      "user_tg_id: must be a string of 1 to 20 digits, without leading zeros",
    ],
    [
      "a misspelled name",
      () => JSON.stringify({ bot_id: fixture.bot.botId, user_id: "42" }),
      'user_tg_id: is missing; the request has "bot_id", "user_id"',
    ],
    [
      "names in camel case",
      () => JSON.stringify({ botId: "7", userTgId: "42" }),
      'bot_id: is missing; user_tg_id: is missing; the request has "botId", "userTgId"',
    ],
    ["no fields", () => "{}", "bot_id: is missing; user_tg_id: is missing; the request has no fields"],
    [
      "a number as reference",
      () => json({ reference: 17 }),
      "reference: must be a string, not a number: put it in quotes",
    ],
    [
      "null as reference",
      () => json({ reference: null }),
      "reference: must be a string, not null; leave out what there is none of",
    ],
    ["an empty reference", () => json({ reference: "" }), "reference: must not be empty"],
    ["a long reference", () => json({ reference: "x".repeat(129) }), "reference: must have at most 128 characters"],
    ["a list", () => "[]", "must be a JSON object, not an array"],
    ["single quotes", () => "{'bot_id':'1'}", "the body is not JSON"],
    ["an empty body", () => "", "the body is empty, and Content-Type says that it is JSON: send a JSON object"],
    [
      "a form",
      () => "bot_id=1",
      "this Content-Type is not accepted here: send JSON as Content-Type: application/json",
      { "content-type": "application/x-www-form-urlencoded" },
    ],
    [
      "another bot's token",
      () => json({ bot_id: other }),
      `the token belongs to another bot: it is of bot {bot}, and bot_id is ${other}. Use the token of that bot, or the id of this one`,
    ],
  ])("%s", async (_mistake, body, message, headers = {}) => {
    const response = await fixture.createCode(body(), { ...bearer(fixture.bot.token), ...headers });
    const { error } = errorEnvelope.parse(await response.json());
    expect(error.message).toBe(message.replace("{bot}", fixture.bot.botId));
  });

  test.each([
    ["/availability", "user_tg_id: is missing; the request has no fields"],
    ["/availability?user_id=42", 'user_tg_id: is missing; the request has "user_id"'],
    ["/events?limit=5000", "limit: must be at most 1000"],
    ["/events?limit=0", "limit: must be at least 1"],
    ["/events?limit=all", "limit: must be a whole number"],
    ["/stats?by=week", "by: must be one of hour, day, campaign, creative, reference"],
  ])("GET %s", async (path, message) => {
    const response = await fixture.get(path);
    expect([response.status, errorEnvelope.parse(await response.json()).error.message]).toEqual([400, message]);
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
    const response = await fixture.createCode(validRequest(), { ...bearer(fixture.bot.token), "content-type": type });
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
      /^campaigns\.|^demand\.read-buyers$/.test(toRun.name)
        ? database.run(toRun, values)
        : Promise.reject(new Error("secret detail"));
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
      const body = JSON.stringify(validRequest());
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
