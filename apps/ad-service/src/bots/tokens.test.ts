import { randomBytes } from "node:crypto";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTelegramId } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { type ApiTokens, authenticateBot, openApiTokens } from "./authenticate-client.ts";
import { type Bots, openBots } from "./bots.ts";
import { addBot, suspendBot } from "./change-bot.ts";
import { activateToken, createToken, readTokens, revokeToken, signingTokens } from "./tokens.ts";

const now = new Date("2026-03-01T12:00:00Z");
const daysLater = (days: number) => new Date(now.getTime() + days * 24 * 3600 * 1000);

describe("tokens", () => {
  let store: TestDatabase;
  let bots: Bots;
  let apiTokens: ApiTokens;
  const box = secretBox(randomBytes(32));
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
    bots = openBots(store.database);
    apiTokens = openApiTokens(bots);
  });
  afterAll(() => store.dispose());

  const deps = () => ({ database: store.database, bots, secretBox: box });
  const authenticate = async (token: string, at = now) =>
    (await authenticateBot(apiTokens, { authorization: `Bearer ${token}`, now: at })).outcome;
  const signers = async (botId: string, at = now) =>
    (await signingTokens(deps(), { botIds: [botId], now: at })).get(botId);

  async function newBot() {
    const added = await addBot(deps(), { botId: newTelegramId(), settings: {}, now });
    if (added.outcome !== "added") throw new Error("a bot's id was drawn twice");
    return { botId: added.bot.botId, first: added.token, firstId: added.entry.tokenId };
  }
  async function newToken(botId: string) {
    const created = await createToken(deps(), { botId, now });
    if (created.outcome !== "created") throw new Error(created.outcome);
    return created;
  }

  test("a token is ad_ and 32 bytes in base58, and is stored nowhere in plain text", async () => {
    const { botId, first } = await newBot();
    expect(first).toMatch(/^ad_[1-9A-HJ-NP-Za-km-z]{40,44}$/);
    const text = "select * from bot_tokens where bot_id = $1";
    const rows = await store.database.run<object>({ name: "", text }, [botId]);
    expect(JSON.stringify(rows.map((row) => Object.values(row).map(String)))).not.toContain(first.slice(3));
    expect(await signers(botId)).toEqual({ active: first, all: [first] });
  });

  test("during a rotation both tokens authenticate and sign; X-Signature switches when the next one is activated", async () => {
    const { botId, first, firstId } = await newBot();
    const next = await newToken(botId);
    expect(next.entry.state).toBe("next");
    expect([await authenticate(first), await authenticate(next.token)]).toEqual(["authenticated", "authenticated"]);
    expect(await signers(botId)).toEqual({ active: first, all: [first, next.token] });

    const activated = await activateToken(apiTokens, { botId, tokenId: next.entry.tokenId, now });
    const retiring = { tokenId: firstId, revokeAt: daysLater(7), lastUsedAt: null };
    expect(activated).toEqual({ outcome: "activated", retiring });
    expect(await signers(botId)).toEqual({ active: next.token, all: [next.token, first] });
    expect(await authenticate(first, new Date(daysLater(7).getTime() - 1))).toBe("authenticated");
  });

  test("a replaced token works for seven days at most", async () => {
    const { botId, first } = await newBot();
    const next = await newToken(botId);
    await activateToken(apiTokens, { botId, tokenId: next.entry.tokenId, now });
    expect(await authenticate(first, daysLater(7))).toBe("unknown");
    expect(await signers(botId, daysLater(7))).toEqual({ active: next.token, all: [next.token] });
    const states = (await readTokens(store.database, { botId, now: daysLater(7) })).map(({ state }) => state);
    expect(states.sort()).toEqual(["active", "revoked"]);
  });

  test("a revoked token is rejected immediately, even if it was used a moment ago", async () => {
    const { botId, first, firstId } = await newBot();
    expect(await authenticate(first)).toBe("authenticated");
    const revoked = await revokeToken(apiTokens, { botId, tokenId: firstId, now });
    expect(revoked).toMatchObject({ outcome: "revoked", activatedTokenId: null, isLast: true });
    expect(await authenticate(first)).toBe("unknown");
    expect(await signers(botId)).toBeUndefined();
  });

  test("when the active token is revoked, the next one replaces it", async () => {
    const { botId, firstId } = await newBot();
    const next = await newToken(botId);
    const revoked = await revokeToken(apiTokens, { botId, tokenId: firstId, now });
    expect(revoked).toMatchObject({ outcome: "revoked", activatedTokenId: next.entry.tokenId, isLast: false });
    expect(await signers(botId)).toEqual({ active: next.token, all: [next.token] });
  });

  test("there is only one next token, even when many are requested at the same time", async () => {
    const { botId } = await newBot();
    const made = await Promise.all(Array.from({ length: 5 }, () => createToken(deps(), { botId, now })));
    expect(made.map(({ outcome }) => outcome).sort()).toEqual(["created", ...Array(4).fill("next-exists")]);
  });

  test("only the next token can be activated, and only once", async () => {
    const { botId, firstId } = await newBot();
    expect(await activateToken(apiTokens, { botId, tokenId: firstId, now })).toEqual({
      outcome: "not-next",
      state: "active",
    });
    expect(await activateToken(apiTokens, { botId, tokenId: "tok_unknown", now })).toEqual({
      outcome: "unknown-token",
    });
    const other = await newBot();
    expect(await revokeToken(apiTokens, { botId: other.botId, tokenId: firstId, now })).toEqual({
      outcome: "unknown-token",
    });
  });

  test("a token sealed for one bot does not open for another", async () => {
    const { botId } = await newBot();
    const text = "select ciphertext from bot_tokens where bot_id = $1";
    const [row] = await store.database.run<{ ciphertext: Buffer }>({ name: "", text }, [botId]);
    expect(() => box.open(row?.ciphertext ?? Buffer.alloc(0), "1")).toThrow("ENCRYPTION_KEY");
  });

  test("a suspended bot is distinguished from an unknown token", async () => {
    const { botId, first } = await newBot();
    expect(await authenticate(first)).toBe("authenticated");
    await suspendBot(bots, { botId, now });
    expect(await authenticate(first)).toBe("suspended");
  });
});
