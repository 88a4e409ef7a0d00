import { generateKeyPairSync } from "node:crypto";
import { sign } from "@intermission/ad-core/signature";
import { signInitData } from "@intermission/ad-core/telegram-init-data";
import { statement } from "@intermission/postgres/open-database";
import type { RewardEntry } from "@intermission/publisher/companion";
import { openTestDatabase, type TestDatabase } from "@intermission/testing/test-database";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startOfLedger } from "../src/ledger/watch-rewards.ts";
import { migrations } from "../src/migrations.ts";
import { startTestApi, type TestApi, testConfig, testToken } from "./fixtures/api-fixture.ts";

const wholeRows = statement<{ row: string }>("test.bots", "select to_jsonb(bots)::text as row from bots");

const encryptionKey = Buffer.alloc(32, 1);
const users = ["1", "2", "3", "4"];
const codesOfUser = 3;

interface TestBot {
  id: string;
  adToken: string;
  telegramToken: string;
  /** Units for a view: another number for each bot. */
  units: number;
  key: string;
}

const botOf = (index: number) => {
  const id = String(8_000_000_000 + index);
  return { id, adToken: `ad_token_of_bot_${id}`, telegramToken: `${id}:${"T".repeat(35)}`, units: 100 + index };
};

/** The same users, codes and event ids at each bot. */
const events = users.flatMap((userId) =>
  Array.from({ length: codesOfUser }, (_, index) => {
    const code = `Code${userId}x${index}`;
    return { event: "rewarded", user_tg_id: userId, code, event_id: `evt_${code}` };
  }),
);

async function inParallel(tasks: readonly (() => Promise<void>)[], limit: number): Promise<void> {
  const waiting = [...tasks];
  const work = async () => {
    for (let task = waiting.pop(); task; task = waiting.pop()) await task();
  };
  await Promise.all(Array.from({ length: limit }, work));
}

const privateKey = generateKeyPairSync("ed25519")
  .privateKey.export({ type: "pkcs8", format: "der" })
  .toString("base64");

function initDataOf(bot: Pick<TestBot, "id" | "telegramToken">, userId: string): string {
  const fields = { auth_date: String(Math.floor(Date.now() / 1000)), user: `{"id":${userId},"first_name":"Ada"}` };
  return signInitData({ fields, botToken: bot.telegramToken, botId: bot.id, privateKey });
}

describe("ten bots on one companion API", () => {
  let store: TestDatabase;
  let api: TestApi;
  const bots: TestBot[] = [];
  const usedTokens: string[] = [];
  beforeAll(async () => {
    store = await openTestDatabase({ schema: "api", migrations });
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const adServiceOf = (token: string) => ({
      async createCode() {
        usedTokens.push(token);
        return { outcome: "issued" as const, code: { code: "SameCode", expires_in: 3600, expires_at } };
      },
    });
    api = await startTestApi(store.database, { encryptionKey }, undefined, { adServiceOf });
    for (let index = 0; index < 10; index++) bots.push(await add(index));
  });
  afterAll(async () => {
    await api.stop();
    await store.dispose();
  });

  async function add(index: number): Promise<TestBot> {
    const { id: botId, adToken, telegramToken, units } = botOf(index);
    const settings = { rewardRewarded: units };
    const added = await api.operator.addBot({ botId, adToken, telegramToken, settings });
    if (added.outcome !== "done" || !added.backendApiKey) throw new Error(`not added: ${JSON.stringify(added)}`);
    return { ...botOf(index), key: added.backendApiKey };
  }

  const send = async (botId: string, token: string, event: object, more: Record<string, string> = {}) => {
    const body = JSON.stringify(event);
    const headers = { "content-type": "application/json", "x-signature": sign(Buffer.from(body), token), ...more };
    const response = await fetch(`${api.url}/webhooks/ads/${botId}`, { method: "POST", body, headers });
    await response.text();
    return response.status;
  };
  const backendOf = ({ key }: TestBot) => api.client(`Bearer ${key}`);
  const botAt = (index: number): TestBot => {
    const bot = bots[index % bots.length];
    if (!bot) throw new Error("there are no bots");
    return bot;
  };
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => "allowed",
      ({ data }) => data?.code,
    );

  test("balances and watches never mix under 64 parallel webhooks with forgeries", async () => {
    const seen = bots.map((): RewardEntry[] => []);
    const watches = bots.map(({ key }, index) =>
      api.watch(startOfLedger, (entry) => seen[index]?.push(entry), undefined, { key }),
    );
    await Promise.all(watches.map(({ isStarted }) => isStarted));
    const statuses: Record<string, Set<number>> = {};
    const note = (what: string, status: number) => {
      statuses[what] ??= new Set();
      statuses[what].add(status);
    };
    const tasks = events.flatMap((event) =>
      bots.flatMap((bot, index) => {
        const other = botAt(index + 1);
        const named = { ...event, bot_id: bot.id };
        return [
          async () => note("own", await send(bot.id, bot.adToken, named)),
          async () => note("repeated without the bot's id", await send(bot.id, bot.adToken, event)),
          async () => note("signed by another bot", await send(bot.id, other.adToken, named)),
          async () => note("of another bot", await send(bot.id, bot.adToken, { ...event, bot_id: other.id })),
          async () => note("headed to another bot", await send(bot.id, bot.adToken, named, { "x-bot-id": other.id })),
        ];
      }),
    );
    await inParallel(tasks, 64);
    expect(statuses).toEqual({
      own: new Set([200]),
      "repeated without the bot's id": new Set([200]),
      "signed by another bot": new Set([401]),
      "of another bot": new Set([403]),
      "headed to another bot": new Set([403]),
    });

    for (const bot of bots) {
      for (const userId of users) {
        const balance = codesOfUser * bot.units;
        expect(await backendOf(bot).rewards.balance.query({ userId })).toEqual({ balance });
      }
      const { entries } = await backendOf(bot).rewards.list.query({ limit: 100 });
      expect(entries.map(({ amount }) => amount)).toEqual(events.map(() => bot.units));
      const since = new Date(Date.now() - 3_600_000).toISOString();
      expect(await backendOf(bot).receipts.refused.query({ since })).toMatchObject([
        { reason: "wrong-signature", refused: events.length },
      ]);
    }
    await vi.waitFor(() => expect(seen.map(({ length }) => length)).toEqual(bots.map(() => events.length)), {
      timeout: 20_000,
    });
    for (const [index, entries] of seen.entries()) {
      expect(new Set(entries.map(({ amount }) => amount))).toEqual(new Set([botAt(index).units]));
      expect(entries.map(({ eventId }) => eventId).sort()).toEqual(events.map(({ event_id }) => event_id).sort());
    }
    for (const watch of watches) watch.stop();
    // The bot of the environment got nothing of all this.
    expect((await api.client().rewards.list.query({})).entries).toEqual([]);
  });

  test("equal codes of two bots stay apart, and each is requested with its bot's own token", async () => {
    usedTokens.length = 0;
    const [first, second] = [botAt(0), botAt(1)];
    const made = await backendOf(first).codes.create.mutate({ userId: "1" });
    await backendOf(second).codes.create.mutate({ userId: "2" });
    expect(usedTokens).toEqual([first.adToken, second.adToken]);
    expect(made).toMatchObject({ miniappUrl: `${testConfig.links.miniappUrl}/${first.id}?code=SameCode` });
    const { entries } = await backendOf(first).rewards.list.query({ userId: "2" });
    expect(await send(first.id, first.adToken, { event: "rewarded", user_tg_id: "2", code: "SameCode" })).toBe(200);
    // The code was issued to user 1 of this bot, and to user 2 only of the other.
    const after = await backendOf(first).rewards.list.query({ userId: "2" });
    expect(after.entries).toHaveLength(entries.length + 1);
    expect(after.entries[0]).toMatchObject({ amount: 0, reason: "code-of-another-user" });
    expect(await send(second.id, second.adToken, { event: "rewarded", user_tg_id: "2", code: "SameCode" })).toBe(200);
    expect(await backendOf(second).rewards.status.query({ code: "SameCode" })).toMatchObject({ outcome: "credited" });
  });

  test("launch data and sessions are of one bot", async () => {
    const [own, other] = [botAt(2), botAt(3)];
    const signIn = (botId: string | undefined, initData: string) =>
      api.client("").telegramUser.signIn.mutate({ initData, ...(botId && { botId }) });
    const invalid = { outcome: "refused", reason: "invalid" };
    expect(await signIn(other.id, initDataOf(own, "1"))).toEqual(invalid);
    expect(await signIn(undefined, initDataOf(own, "1"))).toEqual(invalid);
    expect(await refusal(signIn("9", initDataOf(own, "1")))).toBe("NOT_FOUND");
    const signedIn = await signIn(own.id, initDataOf(own, "1"));
    if (signedIn.outcome !== "signed-in") throw new Error("the sign-in was refused");
    const { rewards } = api.client(`Bearer ${signedIn.sessionToken}`);
    expect(await rewards.balance.query({})).toEqual({ balance: codesOfUser * own.units });
    const moved = signedIn.sessionToken.replace(own.id, other.id);
    expect(await refusal(api.client(`Bearer ${moved}`).rewards.balance.query({}))).toBe("UNAUTHORIZED");
  });

  test("the table holds no secret in the clear, and no two bots share a token of the ad service", async () => {
    const text = await store.database.run(wholeRows, []);
    for (const { row } of text) {
      for (const { key, adToken, telegramToken } of bots) {
        for (const secret of [key, adToken, telegramToken]) {
          expect(row).not.toContain(secret);
          expect(row).not.toContain(Buffer.from(secret).toString("hex"));
        }
      }
    }
    const { adToken } = botAt(0);
    const newBot = { botId: "9000000001", adToken, telegramToken: `9000000001:${"T".repeat(35)}`, settings: {} };
    for (const taken of [adToken, testToken]) {
      const answer = await api.operator.addBot({ ...newBot, adToken: taken });
      expect(answer).toMatchObject({ outcome: "refused", code: "CONFLICT" });
    }
    const listed = JSON.stringify(await api.operator.listBots());
    expect(listed).toContain(botAt(0).id);
    expect(listed).not.toContain(adToken);
    const start = startTestApi(store.database, { encryptionKey: Buffer.alloc(32, 2) });
    await expect(start).rejects.toThrow(/tokens of bot 8000000000 cannot be read.*ENCRYPTION_KEY/);
  });

  test("changes take effect on every node without a restart, and a removed bot keeps its ledger", async () => {
    const node = await startTestApi(store.database, { encryptionKey });
    const bot = botAt(9);
    const ask = async (key: string, at = node) => {
      await at.bots.refresh();
      return refusal(at.client(`Bearer ${key}`).rewards.balance.query({ userId: "1" }));
    };
    const rotate = async (dropsPrevious: boolean) => {
      const answer = await api.operator.changeBot(bot.id, { kind: "backend-key", dropsPrevious });
      if (answer.outcome !== "done" || !answer.backendApiKey) throw new Error("there is no new key");
      return answer.backendApiKey;
    };
    const second = await rotate(false);
    expect([await ask(bot.key), await ask(second)]).toEqual(["allowed", "allowed"]);
    const third = await rotate(true);
    expect([await ask(bot.key), await ask(second), await ask(third)]).toEqual([
      "UNAUTHORIZED",
      "UNAUTHORIZED",
      "allowed",
    ]);

    const token = "ad_the_rotated_token";
    await api.operator.changeBot(bot.id, { kind: "ad-token", token, dropsPrevious: false });
    const settings = { rewardRewarded: 7 };
    await api.operator.changeBot(bot.id, { kind: "settings", settings });
    for (const [index, signing] of [token, bot.adToken].entries()) {
      const event = { event: "rewarded", user_tg_id: "77", code: `Late${index}`, event_id: `evt_late_${index}` };
      expect(await send(bot.id, signing, event)).toBe(200);
    }
    const late = api.client(`Bearer ${third}`).rewards.balance.query({ userId: "77" });
    expect(await late).toEqual({ balance: 14 });

    const watch = api.watch(startOfLedger, () => {}, undefined, { key: third });
    await watch.isStarted;
    expect(await api.operator.changeBot(bot.id, { kind: "removal" })).toMatchObject({ bot: { state: "removed" } });
    watch.stop();
    expect([await ask(third), await ask(third, api)]).toEqual(["UNAUTHORIZED", "UNAUTHORIZED"]);
    expect(await send(bot.id, token, events[0] ?? {})).toBe(404);
    expect(await api.operator.changeBot(bot.id, { kind: "removal" })).toMatchObject({ code: "NOT_FOUND" });
    const { key } = await add(9);
    expect(await api.client(`Bearer ${key}`).rewards.balance.query({ userId: "77" })).toEqual({ balance: 14 });
    await node.stop();
  });
});
