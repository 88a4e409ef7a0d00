import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { pageLanguages } from "@intermission/ad-core/page-language";
import { createAds } from "@intermission/publisher";
import {
  type AdsFlavor,
  adsMiddleware,
  type BonusTextsOption,
  bonusCommand,
  bonusTexts,
} from "@intermission/publisher/grammy";
import { Bot, type Context } from "grammy";
import type { Update } from "grammy/types";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { addCampaign } from "../src/campaigns/change-campaign.ts";
import { type ClientFixture, openClientFixture } from "./fixtures/client-fixture.ts";

let fixture: ClientFixture;
let bot: Bot<Context & AdsFlavor>;
let telegram: Server;
let client: { apiRoot: string };
const sent: Record<string, unknown>[] = [];

beforeAll(async () => {
  fixture = await openClientFixture();
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
  client = { apiRoot: `http://127.0.0.1:${(telegram.address() as AddressInfo).port}` };
  bot = new Bot<Context & AdsFlavor>("1:telegram", { client });
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
            web_app: { url: expect.stringMatching(`^${base}/app/${fixture.bot.botId}[?]code=[0-9A-Za-z]{18}$`) },
          },
        ],
      ],
    },
  });
  expect(await say("/link", "group")).toMatchObject({
    reply_markup: { inline_keyboard: [[{ text: "Open", url: expect.stringMatching(`^${base}/[0-9A-Za-z]{18}$`) }]] },
  });
});

/** Telegram's update for a command whose sender is no person. */
const group = { id: -1001, type: "supergroup" as const, title: "Group" };
const channel = { id: -1002, type: "channel" as const, title: "Channel" };
const anonymousAdmin = { id: 1087968824, is_bot: true, first_name: "Group", username: "GroupAnonymousBot" };
const channelBot = { id: 136817688, is_bot: true, first_name: "Channel", username: "Channel_Bot" };
const telegramItself = { id: 777000, is_bot: false, first_name: "Telegram" };
const ann = { id: 42, is_bot: false, first_name: "Ann" };

const codes = () => fixture.database.run<object>({ name: "", text: "select code from codes" }, []);

/** What the bot answered to this message, and how many codes were made. */
async function hear(update: Record<string, unknown>, name = "message") {
  updates += 1;
  sent.length = 0;
  const before = (await codes()).length;
  const { text = "/bonus" } = update as { text?: string };
  const entities = [{ type: "bot_command", offset: 0, length: text.length }];
  const message = { message_id: updates, date: 0, text, entities, ...update };
  await bot.handleUpdate({ update_id: updates, [name]: message } as unknown as Update);
  return { answers: sent.map(({ text }) => text), made: (await codes()).length - before };
}

test.each([
  ["de", undefined, "Gerade ist keine Werbung verfügbar."],
  ["pt-BR", undefined, "Não há anúncios agora."],
  ["pt_BR", undefined, "Não há anúncios agora."],
  ["in", undefined, "Belum ada iklan sekarang."],
  ["zh-hans", undefined, "No ad is available now."],
  ["constructor", undefined, "No ad is available now."],
  [undefined, undefined, "No ad is available now."],
  ["de", { later: () => "Later!" }, "Later!"],
  ["de", { offer: "Here!" }, "No ad is available now."],
  ["de", { later: undefined } as never, "No ad is available now."],
  ["de", (ctx: Context) => ({ later: () => `Später, ${ctx.from?.first_name}` }), "Später, Ann"],
  ["ru", async () => ({ offer: "Here!" }), "Сейчас рекламы нет."],
] satisfies [string | undefined, BonusTextsOption<Context & AdsFlavor> | undefined, string][])(
  "a user of the language %s reads the texts of the bot, or those built in: %s",
  async (language_code, texts, expected) => {
    const { botId, token } = fixture.bot;
    const own = new Bot<Context & AdsFlavor>("1:telegram", { client, botInfo: bot.botInfo });
    const ads = createAds({ url: fixture.address, token, botId });
    own.use(adsMiddleware(ads), bonusCommand(ads, { command: "earn", ...(texts && { texts }) }));
    updates += 1;
    sent.length = 0;
    const chat = { id: 42, type: "private" as const, first_name: "Ann" };
    const entities = [{ type: "bot_command" as const, offset: 0, length: 5 }];
    const from = { ...ann, ...(language_code !== undefined && { language_code }) };
    await own.handleUpdate({
      update_id: updates,
      message: { message_id: 1, date: 0, text: "/earn", from, chat, entities },
    });
    expect(sent.map(({ text }) => text)).toEqual([expected]);
  },
);

test("the built-in texts are in the languages of the mini-app, each with the time of the next ad", async () => {
  for (const language of pageLanguages) {
    const { later, ...texts } = await bonusTexts(language);
    expect(later(new Date("2026-03-01T09:05:00Z")), language).toContain("09:05");
    expect(later(undefined), language).not.toBe("");
    if (language !== "en") expect(Object.values(texts), language).not.toContain((await bonusTexts("en")).offer);
  }
});

const privately = expect.stringContaining("Send me the command in private");

test.each<[string, object, unknown[]]>([
  ["an anonymous administrator", { from: anonymousAdmin, sender_chat: group, chat: group }, [privately]],
  ["somebody who writes as a channel", { from: channelBot, sender_chat: channel, chat: group }, [privately]],
  [
    "a channel's post in its group",
    { from: telegramItself, sender_chat: channel, chat: group, is_automatic_forward: true },
    [privately],
  ],
  ["a person in the name of a chat", { from: ann, sender_chat: group, chat: group }, [privately]],
  ["another bot", { from: { ...ann, id: 43, is_bot: true }, chat: group }, []],
])("a command of %s makes no code, and the answer says what to do", async (_who, message, answers) => {
  expect(await hear({ ...message })).toEqual({ answers, made: 0 });
});

test("a post in a channel makes no code, and is left to the bot's other handlers", async () => {
  expect(await hear({ sender_chat: channel, chat: channel }, "channel_post")).toEqual({ answers: [], made: 0 });
});

test("the text for anonymous senders can be replaced", async () => {
  const { botId, token } = fixture.bot;
  const ads = createAds({ url: fixture.address, token, botId });
  bot.use(bonusCommand(ads, { command: "bonus_ru", texts: { anonymous: "Напишите мне в личку." } }));
  const message = { text: "/bonus_ru", from: anonymousAdmin, sender_chat: group, chat: group };
  expect(await hear(message)).toEqual({ answers: ["Напишите мне в личку."], made: 0 });
});

test("ctx.ads.keyboard() makes no code for a sender who may be anybody, and one for who presses a button", async () => {
  const keyboard = vi.fn();
  bot.on("callback_query:data", async (ctx) => keyboard(await ctx.ads.keyboard()));
  const faults: unknown[] = [];
  bot
    .errorBoundary((error) => void faults.push(error.error))
    .command("own", async (ctx) => {
      await ctx.ads.keyboard();
    });
  for (const from of [anonymousAdmin, channelBot, { ...ann, id: 43, is_bot: true }]) {
    const sender_chat = from.id === 43 ? undefined : group;
    expect(await hear({ text: "/own", from, sender_chat, chat: group })).toEqual({ answers: [], made: 0 });
  }
  expect(faults).toEqual(Array(3).fill(expect.objectContaining({ name: "AdsError", code: "NOT_A_PERSON" })));

  // The message with the button is the bot's, in the name of a channel. Who presses it is known, an administrator too.
  const message = { message_id: 1, date: 0, chat: channel, sender_chat: channel, text: "An ad:" };
  const pressed = { id: "1", from: { ...ann, id: 44 }, chat_instance: "1", data: "ad", message };
  await bot.handleUpdate({ update_id: ++updates, callback_query: pressed });
  expect(keyboard).toHaveBeenCalledWith({ inline_keyboard: [[{ text: expect.any(String), url: expect.any(String) }]] });
});

test("in a chat of a business account the button is the direct link: Telegram shows no mini-app's buttons there", async () => {
  const keyboard = vi.fn();
  bot.on("business_message", async (ctx) => keyboard(await ctx.ads.keyboard()));
  const chat = { id: 45, type: "private", first_name: "Bob" };
  const customer = { text: "hello", entities: [], business_connection_id: "b1", chat, from: { ...ann, id: 45 } };
  expect(await hear(customer, "business_message")).toMatchObject({ made: 1 });
  expect(keyboard).toHaveBeenCalledWith({ inline_keyboard: [[{ text: expect.any(String), url: expect.any(String) }]] });
});

test("with an ad /bonus offers it", async () => {
  const added = await addCampaign(fixture.database, {
    campaignId: "cmp_grammy",
    name: "Link",
    advertiser: "Shop",
    newAdvertiser: { billing: "credit", creditLimitMicros: null },
    formats: ["direct_link"],
    clickPriceMicros: 1500,
    landingUrl: "https://shop.test/",
    now: fixture.clock.now,
  });
  expect(added).toMatchObject({ outcome: "added" });
  await fixture.campaigns.refresh();
  expect(await say("/bonus")).toMatchObject({ text: expect.stringContaining("Watch a short ad") });
});
