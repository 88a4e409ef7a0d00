import { createCodeResponse, errorEnvelope } from "@intermission/ad-core/client-api";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newTelegramId } from "../../test/fixtures/app-fixture.ts";
import { type ClientFixture, codeIn, expectError, openClientFixture } from "../../test/fixtures/client-fixture.ts";

describe("POST /client/v1/codes", () => {
  let fixture: ClientFixture;
  let botId: string;
  beforeAll(async () => {
    fixture = await openClientFixture();
    botId = fixture.bot.botId;
  });
  afterAll(() => fixture.close());
  beforeEach(() => {
    fixture.clock.now = new Date("2026-03-01T12:00:00.000Z");
  });

  test("returns exactly 200 with code, expires_in, expires_at and both addresses, and nothing else", async () => {
    fixture.clock.now = new Date("2026-03-01T12:00:00.400Z");
    const response = await fixture.askFor(newTelegramId());
    const body: unknown = await response.json();
    expect(response.status).toBe(200);
    const answer = createCodeResponse.strict().parse(body);
    expect(answer).toEqual({
      code: expect.stringMatching(/^[0-9A-Za-z]{18}$/),
      expires_in: 3600,
      expires_at: "2026-03-01T13:00:01Z",
      direct_link: `http://ads.test/${answer.code}`,
      miniapp_url: `http://ads.test/app/${botId}?code=${answer.code}`,
    });
  });

  test("returns an open code again, with less time left", async () => {
    const userId = newTelegramId();
    const first = await codeIn(await fixture.askFor(userId));
    fixture.clock.now = new Date("2026-03-01T12:10:00.001Z");
    expect(await codeIn(await fixture.askFor(userId))).toEqual({ ...first, expires_in: 2999 });
  });

  test("returns one code to 64 parallel requests for one user", async () => {
    const userId = newTelegramId();
    const answers = await Promise.all(Array.from({ length: 64 }, () => fixture.askFor(userId)));
    const codes = await Promise.all(answers.map(async (answer) => (await codeIn(answer)).code));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(codes).size).toBe(1);
  });

  test("ignores unknown fields", async () => {
    expect((await fixture.askFor(newTelegramId(), { campaign: "spring" })).status).toBe(200);
  });

  test.each([
    ["a bot_id that is a JSON number", () => ({ bot_id: Number(botId), user_tg_id: "1" })],
    ["a user_tg_id that is a JSON number", () => ({ bot_id: botId, user_tg_id: 12345 })],
    ["a user_tg_id with a leading zero", () => ({ bot_id: botId, user_tg_id: "012" })],
    ["a negative user_tg_id", () => ({ bot_id: botId, user_tg_id: "-12" })],
    ["a user_tg_id with a newline", () => ({ bot_id: botId, user_tg_id: "12\n" })],
    ["a user_tg_id of 21 digits", () => ({ bot_id: botId, user_tg_id: "1".repeat(21) })],
    ["no user_tg_id", () => ({ bot_id: botId })],
    ["a reference of 129 characters", () => ({ bot_id: botId, user_tg_id: "1", reference: "x".repeat(129) })],
    ["an empty reference", () => ({ bot_id: botId, user_tg_id: "1", reference: "" })],
    ["a reference with U+0000", () => ({ bot_id: botId, user_tg_id: "1", reference: "a\0b" })],
    ["half a surrogate pair", () => `{"bot_id":"${botId}","user_tg_id":"1","reference":"\\ud800"}`],
    ["an array", () => []],
    ["null", () => "null"],
    ["malformed JSON", () => '{"bot_id":'],
    ["an empty body", () => ""],
    ["a poisoned prototype", () => `{"__proto__":{"a":1},"bot_id":"${botId}","user_tg_id":"1"}`],
  ])("refuses %s with 400", async (_name, body) => {
    await expectError(await fixture.createCode(body()), 400, "BAD_REQUEST");
  });

  test("names the invalid field, but no value", async () => {
    const response = await fixture.createCode({ bot_id: botId, user_tg_id: 987654321 });
    const { error } = errorEnvelope.parse(await response.json());
    expect(error.details).toEqual([{ field: "user_tg_id", message: expect.any(String) }]);
    expect(JSON.stringify(error)).not.toContain("987654321");
  });

  test("refuses another bot's id with 403", async () => {
    const other = await fixture.newBot();
    await expectError(await fixture.createCode({ bot_id: other.botId, user_tg_id: "1" }), 403, "FORBIDDEN");
  });
});
