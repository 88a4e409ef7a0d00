// @module-tag long
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { createAds } from "../packages/publisher/src/publisher.ts";
import { fakeAdService } from "../packages/publisher/src/testing.ts";
import { freePort } from "../scripts/processes.ts";
import { startFakeBotApi } from "./fake-bot-api.ts";

const token = "7000000001:secret";
const folder = mkdtempSync(join(tmpdir(), "intermission-killed-joins-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stores = {
  file: `fileStore(${JSON.stringify(join(folder, "events.txt"))})`,
  SQLite: `sqliteStore(new DatabaseSync(${JSON.stringify(join(folder, "events.sqlite"))}), { leaseMs: 300 })`,
};

const programWith = (store: string) => `
  import { createServer } from "node:http";
  import { DatabaseSync } from "node:sqlite";
  import { createAds, webhook } from "@intermission/publisher";
  import { joinRequests } from "@intermission/publisher/grammy";
  import { fileStore, toNodeHandler } from "@intermission/publisher/node";
  import { sqliteStore } from "@intermission/publisher/stores";
  import { Bot } from "grammy";
  const { BOT_API_URL, AD_SERVICE_URL, AD_API_TOKEN, PORT } = process.env;
  const bot = new Bot(${JSON.stringify(token)}, { client: { apiRoot: BOT_API_URL } });
  const ads = createAds({ url: AD_SERVICE_URL, token: AD_API_TOKEN, botId: "7000000001" });
  const store = ${store};
  const joins = joinRequests(ads, { api: bot.api, store });
  bot.use(joins);
  const receive = webhook(async (event) => void (await joins.approve(event)), { tokens: AD_API_TOKEN, store });
  createServer(toNodeHandler(receive)).listen(Number(PORT), "127.0.0.1");
  await bot.start();
`;

/** Where the process dies: before Telegram has the approval, or after it and before the process has Telegram's answer. */
const moments = ["before", "after"] as const;

test.each(Object.keys(stores) as (keyof typeof stores)[])(
  "a bot that is killed around Telegram's approval loses no reward and approves each user once: %s",
  { timeout: 240_000 },
  async (name) => {
    const telegram = await startFakeBotApi(token);
    const port = await freePort();
    const fake = fakeAdService({ webhook: `http://127.0.0.1:${port}/webhooks/ads` });
    await fake.listen();
    const ads = createAds({ url: fake.url, token: fake.token, botId: fake.botId });
    const env = { BOT_API_URL: telegram.url, AD_SERVICE_URL: fake.url, AD_API_TOKEN: fake.token, PORT: String(port) };
    let child: ChildProcess | undefined;
    const start = () => {
      child = spawn(process.execPath, ["--input-type=module-typescript", "-e", programWith(stores[name])], {
        cwd: join(import.meta.dirname, "watch-to-join"),
        env: { PATH: process.env.PATH, ...env },
        stdio: ["ignore", "ignore", "inherit"],
      });
    };
    start();
    let kills = 0;
    let isArmed = true;
    telegram.around = (method, moment) => {
      if (!isArmed || method !== "answerChatJoinRequestQuery" || moment !== moments[kills % 2]) return;
      isArmed = false;
      kills++;
      child?.kill("SIGKILL");
    };
    try {
      const users = ["501", "502", "503", "504", "505", "506"];
      for (const [at, userId] of users.entries()) {
        telegram.askToJoin(userId);
        const find = () => telegram.opened.findLast((one) => one.userId === userId)?.url;
        await vi.waitFor(() => expect(find()).toBeDefined(), { timeout: 30_000 });
        const code = new URL(find() ?? "").searchParams.get("code") ?? "";
        expect(await fake.earn(code)).toMatchObject({ outcome: "earned", isDelivered: false });
        expect(kills).toBe(at + 1);
        await vi.waitFor(() => expect(child?.signalCode).toBe("SIGKILL"));
        start();
        // As the ad service does: again and again, until it is answered 2xx.
        await vi.waitFor(
          async () => {
            await fake.sendWaiting();
            expect(telegram.channel.stateOf(userId)).toBe("member");
            expect((await ads.events({ latest: 1 })).events).toMatchObject([{ delivery: "delivered" }]);
          },
          { timeout: 30_000, interval: 50 },
        );
        isArmed = true;
      }
      expect(kills).toBe(users.length);
      expect(telegram.approved).toEqual(users);
    } finally {
      child?.kill("SIGKILL");
      await fake.close();
      telegram.stop();
    }
  },
);
