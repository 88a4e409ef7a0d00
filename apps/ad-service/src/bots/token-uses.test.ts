import { randomBytes } from "node:crypto";
import { secretBox } from "@intermission/server/secret-box";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newTelegramId } from "../../test/fixtures/app-fixture.ts";
import { migrations } from "../migrations.ts";
import { type ApiTokens, authenticateBot, openApiTokens } from "./authenticate-client.ts";
import { openBots } from "./bots.ts";
import { addBot, suspendBot } from "./change-bot.ts";
import { startStoringTokenUses, storeTokenUses } from "./token-uses.ts";
import { activateToken, createToken, readTokens, revokeToken } from "./tokens.ts";

const now = new Date("2026-03-01T12:00:00Z");
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe("the last use of a token", () => {
  let store: TestDatabase;
  /** Two nodes on one store. */
  let nodes: [ApiTokens, ApiTokens];
  let botId: string;
  let token: string;
  let tokenId: string;
  const box = secretBox(randomBytes(32));
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "ad_service", migrations });
  });
  afterAll(() => store.dispose());
  beforeEach(async () => {
    nodes = [openApiTokens(openBots(store.database)), openApiTokens(openBots(store.database))];
    const added = await addBot({ bots: nodes[0].bots, secretBox: box }, { botId: newTelegramId(), settings: {}, now });
    if (added.outcome !== "added") throw new Error("a bot's id was drawn twice");
    botId = added.bot.botId;
    token = added.token;
    tokenId = added.entry.tokenId;
  });

  const use = async (node: ApiTokens, at: Date, used = token) =>
    (await authenticateBot(node, { authorization: `Bearer ${used}`, now: at })).outcome;
  const save = (node: ApiTokens) => storeTokenUses(store.database, node.uses);
  const uses = async () => {
    const tokens = await readTokens(store.database, { botId, now });
    return Object.fromEntries(tokens.map((one) => [one.tokenId, one.lastUsedAt]));
  };
  /** The transaction that has written the token's row. */
  const writtenBy = async () => {
    const text = "select xmin::text as id from bot_tokens where bot_id = $1";
    return (await store.database.run<{ id: string }>({ name: "", text }, [botId]))[0]?.id;
  };

  test("is stored after the request, and no request waits for it", async () => {
    expect(await uses()).toEqual({ [tokenId]: null });
    const written = await writtenBy();
    expect(await use(nodes[0], now)).toBe("authenticated");
    expect(await writtenBy()).toBe(written);
    await save(nodes[0]);
    expect(await uses()).toEqual({ [tokenId]: now });
  });

  test("is written once a minute, whatever the number of requests and of nodes", async () => {
    const written = new Set([await writtenBy()]);
    for (let second = 0; second < 150; second += 5) {
      for (const node of nodes) {
        await use(node, after(second));
        await save(node);
        written.add(await writtenBy());
      }
    }
    // By the bot's creation, and in each of three minutes.
    expect(written.size).toBe(4);
    expect(await uses()).toEqual({ [tokenId]: after(120) });
  });

  test("never goes back, where a node stores later than another one", async () => {
    await use(nodes[0], now);
    await use(nodes[1], after(90));
    await save(nodes[1]);
    await save(nodes[0]);
    expect(await uses()).toEqual({ [tokenId]: after(90) });
  });

  test("is one of each token, also of a suspended bot's, and of none that is refused", async () => {
    const next = await createToken({ database: store.database, secretBox: box }, { botId, now });
    if (next.outcome !== "created") throw new Error(next.outcome);
    const nextId = next.entry.tokenId;
    await use(nodes[0], now);
    await save(nodes[0]);
    expect(await uses()).toEqual({ [tokenId]: now, [nextId]: null });
    await use(nodes[0], after(70), next.token);
    await save(nodes[0]);
    const activated = await activateToken(nodes[0], { botId, tokenId: nextId, now: after(80) });
    expect(activated).toMatchObject({ retiring: { tokenId, lastUsedAt: now } });
    expect(await revokeToken(nodes[0], { botId, tokenId, now: after(80) })).toMatchObject({ lastUsedAt: now });
    expect(await use(nodes[0], after(90))).toBe("unknown");
    await suspendBot(nodes[0].bots, { botId, now: after(90) });
    expect(await use(nodes[0], after(200), next.token)).toBe("suspended");
    await save(nodes[0]);
    expect(await uses()).toEqual({ [tokenId]: now, [nextId]: after(200) });
  });

  test("waits for no change of the token, and makes none wait", async () => {
    await use(nodes[0], now);
    await store.database.transaction(async (tx) => {
      await tx.run({ name: "", text: "select from bot_tokens where bot_id = $1 for update" }, [botId]);
      await save(nodes[0]);
    });
    await use(nodes[0], after(60));
    await save(nodes[0]);
    expect(await uses()).toEqual({ [tokenId]: after(60) });
  });

  test("is kept while the store refuses it, and stored when the node stops", async () => {
    const faults: unknown[] = [];
    const log = { error: (fault: unknown) => void faults.push(fault) };
    await use(nodes[0], now);
    await store.database.run({ name: "", text: "alter table bot_tokens rename to away" }, []);
    await expect(save(nodes[0])).rejects.toThrow(/bot_tokens/);
    await store.database.run({ name: "", text: "alter table away rename to bot_tokens" }, []);
    const storing = startStoringTokenUses({ database: store.database, uses: nodes[0].uses, log: log as never });
    await storing.stop();
    expect(faults).toEqual([]);
    expect(await uses()).toEqual({ [tokenId]: now });
  });
});
