import { randomBytes } from "node:crypto";
import type { Bot } from "@intermission/operator-api/bots";
import { statement } from "@intermission/postgres/open-database";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTelegramId } from "../../test/fixtures/app-fixture.ts";
import { openBots } from "../bots/bots.ts";
import { addBot } from "../bots/change-bot.ts";
import { migrations } from "../migrations.ts";
import { findCode } from "./describe-code.ts";
import { type Codes, issueCode, openCodes } from "./issue-code.ts";

const earn = statement<never>(
  "test.earn",
  `insert into events (bot_id, event_id, event, user_id, code, occurred_at)
   values ($1, 'evt_' || gen_random_uuid(), 'rewarded', $3, $2, now())`,
);
const start = new Date("2026-03-01T12:00:00.000Z");
const after = (seconds: number) => new Date(start.getTime() + seconds * 1000);

describe("codes", () => {
  let store: TestDatabase;
  let codes: Codes;
  let bot: Bot;
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    codes = openCodes(store.database);
    bot = await newBot({});
  });
  afterAll(() => store.dispose());

  async function newBot(settings: { codeLifetimeSeconds?: number }): Promise<Bot> {
    const deps = { bots: openBots(store.database), secretBox: secretBox(randomBytes(32)) };
    const added = await addBot(deps, { botId: newTelegramId(), settings, now: start });
    if (added.outcome !== "added") throw new Error("the random bot id is taken");
    return added.bot;
  }

  const issue = (userId: string, now = start, reference?: string) => issueCode(codes, { bot, userId, now, reference });
  const countCodes = async (userId: string) =>
    (await store.database.run({ name: "", text: "select code from codes where user_id = $1" }, [userId])).length;

  test("64 parallel requests for one user get one code", async () => {
    const userId = newTelegramId();
    const codes = await Promise.all(Array.from({ length: 64 }, () => issue(userId)));
    expect(new Set(codes.map(({ code }) => code)).size).toBe(1);
    expect(await countCodes(userId)).toBe(1);
  });

  test("64 requests in separate batches get one code", async () => {
    const userId = newTelegramId();
    const codes: string[] = [];
    const ask = async (turn: number) => {
      await new Promise((resolve) => setTimeout(resolve, turn % 8));
      codes.push((await issue(userId)).code);
    };
    await Promise.all(Array.from({ length: 64 }, (_, turn) => ask(turn)));
    expect(new Set(codes).size).toBe(1);
    expect(await countCodes(userId)).toBe(1);
  });

  test("a repeated request gets the same code with its first expiry", async () => {
    const userId = newTelegramId();
    const first = await issue(userId);
    expect(await issue(userId, after(1000))).toEqual(first);
    expect(first.expiresAt).toEqual(after(3600));
  });

  test("an expiry is a whole second and never cuts the lifetime short", async () => {
    const { expiresAt } = await issue(newTelegramId(), new Date("2026-03-01T12:00:00.001Z"));
    expect(expiresAt).toEqual(new Date("2026-03-01T13:00:01Z"));
  });

  test("with a quarter of its lifetime left a code is kept, with a millisecond less it is replaced", async () => {
    const userId = newTelegramId();
    const { code } = await issue(userId);
    expect((await issue(userId, after(2700))).code).toBe(code);
    const replaced = await issue(userId, after(2700.001));
    expect(replaced.code).not.toBe(code);
    expect(await countCodes(userId)).toBe(2);
    // The earlier code stays valid until its own expiry.
    const before = await findCode(store.database, { code, now: after(3599.999) });
    expect(before).toMatchObject({ isExpired: false });
    expect(await findCode(store.database, { code, now: after(3600) })).toMatchObject({ isExpired: true });
  });

  test("a code with a short lifetime is kept only with at least a minute left", async () => {
    const short = await newBot({ codeLifetimeSeconds: 120 });
    const userId = newTelegramId();
    const ask = (now: Date) => issueCode(codes, { bot: short, userId, now });
    const { code } = await ask(start);
    expect((await ask(after(60))).code).toBe(code);
    expect((await ask(after(60.001))).code).not.toBe(code);
  });

  test("a code that earned is not issued again", async () => {
    const userId = newTelegramId();
    const { code } = await issue(userId);
    await store.database.run(earn, [bot.botId, code, userId]);
    const next = await issue(userId, after(1));
    expect(next.code).not.toBe(code);
    expect((await issue(userId, after(2))).code).toBe(next.code);
  });

  test("each reference has a code of its own", async () => {
    const userId = newTelegramId();
    const [none, a, b, again] = await Promise.all([
      issue(userId),
      issue(userId, start, "a"),
      issue(userId, start, "b"),
      issue(userId, start, "a"),
    ]);
    expect(new Set([none.code, a.code, b.code]).size).toBe(3);
    expect(again.code).toBe(a.code);
    expect(await findCode(store.database, { code: a.code, now: start })).toMatchObject({ userId, reference: "a" });
  });

  test("a new code that already exists is drawn again, without affecting the others of its batch", async () => {
    const taken = (await issue(newTelegramId())).code;
    const draws = [taken, `${bot.codePrefix}23456789ABCD`];
    const makeCode = () => draws.shift() ?? "";
    const userId = newTelegramId();
    const [issued, other] = await Promise.all([
      issueCode(codes, { bot, userId, now: start }, makeCode),
      issue(newTelegramId()),
    ]);
    expect(issued.code).toBe(`${bot.codePrefix}23456789ABCD`);
    expect(other.code).toHaveLength(18);
    expect(await countCodes(userId)).toBe(1);
  });

  test("a code is found only by its exact text, and hostile text is unknown", async () => {
    const userId = newTelegramId();
    const { code } = await issue(userId);
    expect(await findCode(store.database, { code, now: start })).toMatchObject({
      botId: bot.botId,
      userId,
      earned: [],
    });
    for (const text of ["", code.slice(1), `${code}x`, code.toUpperCase(), "\0".repeat(18), "'; drop table codes"]) {
      if (text !== code) expect(await findCode(store.database, { code: text, now: start })).toBeUndefined();
    }
  });
});
