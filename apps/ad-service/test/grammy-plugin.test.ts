import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAds } from "@intermission/publisher";
import { type AdsFlavor, adsMiddleware, bonusCommand } from "@intermission/publisher/grammy";
import { testDatabases } from "@intermission/testing/test-database";
import { Bot, type Context } from "grammy";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addCampaign } from "../src/campaigns/change-campaign.ts";
import { type ClientFixture, openClientFixture } from "./fixtures/client-fixture.ts";

let fixture: ClientFixture;
let bot: Bot<Context & AdsFlavor>;
let telegram: Server;
const sent: Record<string, unknown>[] = [];

beforeAll(async () => {
  fixture = await openClientFixture(testDatabases()[0] ?? "embedded");
  // Telegram's side: answers every call, and keeps what the bot sent.
  telegram = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const isGetMe = request.url?.endsWith("/getMe") === true;
    if (!isGetMe) sent.push(JSON.parse(Buffer.concat(chunks).toString()));
    const me = { id: 1, is_bot: true, first_name: "Bot", username: "coins_bot" };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ok: true, result: isGetMe ? me : { message_id: 1, date: 0 } }));
  });
  await new Promise<void>((resolve) => telegram.listen(0, "127.0.0.1", resolve));
  const { botId, token } = fixture.bot;
  const ads = createAds({ url: fixture.address, token, botId });
  bot = new Bot<Context & AdsFlavor>("1:telegram", {
    client: { apiRoot: `http://127.0.0.1:${(telegram.address() as AddressInfo).port}` },
  });
  await bot.init();
  bot.use(adsMiddleware(ads));
  bot.use(bonusCommand(ads));
  bot.command("link", async (ctx) => {
    await ctx.reply("here", { reply_markup: await ctx.ads.keyboard({ text: "Open", reference: "quest 7" }) });
  });
});
afterAll(async () => {
  telegram.close();
  await fixture.close();
});

let updates = 0;
async function say(text: string, type: "private" | "group" = "private"): Promise<Record<string, unknown> | undefined> {
  updates += 1;
  const entities = [{ type: "bot_command" as const, offset: 0, length: text.length }];
  const from = { id: 42, is_bot: false, first_name: "Ann" };
  const chat = type === "private" ? { id: 42, type, first_name: "Ann" } : { id: -7, type, title: "Group" };
  sent.length = 0;
  await bot.handleUpdate({ update_id: updates, message: { message_id: updates, date: 0, from, chat, text, entities } });
  return sent[0];
}

test("without an ad /bonus says so", async () => {
  expect(await say("/bonus")).toMatchObject({ text: "No ad is available now." });
});

test("in a private chat the button opens the mini-app, in a group it is the direct link, both with the user's code", async () => {
  const base = "http://ads.test";
  expect(await say("/link")).toMatchObject({
    reply_markup: {
      inline_keyboard: [
        [
          {
            text: "Open",
            web_app: { url: expect.stringMatching(`^${base}/app/${fixture.bot.botId}[?]code=[0-9A-Za-z]{16}$`) },
          },
        ],
      ],
    },
  });
  expect(await say("/link", "group")).toMatchObject({
    reply_markup: { inline_keyboard: [[{ text: "Open", url: expect.stringMatching(`^${base}/[0-9A-Za-z]{16}$`) }]] },
  });
});

test("with an ad /bonus offers it", async () => {
  const added = await addCampaign(fixture.database, {
    ...{ campaignId: "cmp_grammy", name: "Link", advertiser: "Shop", formats: ["direct_link"], clickPriceMicros: 1500 },
    ...{ landingUrl: "https://shop.test/", now: fixture.clock.now },
  });
  expect(added).toMatchObject({ outcome: "added" });
  await fixture.campaigns.refresh();
  expect(await say("/bonus")).toMatchObject({ text: expect.stringContaining("Watch a short ad") });
});
