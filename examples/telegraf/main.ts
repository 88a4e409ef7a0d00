import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { createAds, webhook } from "@intermission/publisher";
import { toNodeHandler } from "@intermission/publisher/node";
import { sqliteStore } from "@intermission/publisher/stores";
import { Markup, Telegraf, TelegramError } from "telegraf";

const {
  TELEGRAM_BOT_TOKEN = "",
  AD_SERVICE_URL = "",
  AD_API_TOKEN = "",
  PORT = "3000",
  DATABASE = "bot.sqlite",
} = process.env;
const { BOT_API_URL = "https://api.telegram.org" } = process.env;

const database = new DatabaseSync(DATABASE);
database.exec("create table if not exists coins (user_id text not null, amount integer not null)");
const pay = database.prepare("insert into coins values (?, 10)");
const sum = database.prepare("select coalesce(sum(amount), 0) as coins from coins where user_id = ?");

const ads = createAds({ url: AD_SERVICE_URL, token: AD_API_TOKEN, botId: TELEGRAM_BOT_TOKEN.split(":")[0] ?? "" });
const bot = new Telegraf(TELEGRAM_BOT_TOKEN, { telegram: { apiRoot: BOT_API_URL } });
bot.start((ctx) => ctx.reply("/bonus: watch an ad for 10 coins. /coins: how many you have."));
bot.command("coins", (ctx) => ctx.reply(`You have ${sum.get(String(ctx.from.id))?.coins} coins.`));
bot.command("bonus", async (ctx) => {
  // The sender of such a message stands for many people.
  if ("sender_chat" in ctx.message) return ctx.reply("Write to me in a private chat.");
  const { miniappUrl = "", directLink = "" } = await ads.createCode({ userId: ctx.from.id });
  // Telegram opens mini-apps from a button only in private chats.
  const button =
    ctx.chat.type === "private"
      ? Markup.button.webApp("Watch an ad", miniappUrl)
      : Markup.button.url("Open an ad", directLink);
  return ctx.reply("10 coins for an ad:", Markup.inlineKeyboard([button]));
});
bot.catch((error) => console.error("an update failed:", error));

const store = sqliteStore(database);
/** The coins are committed together with the event, exactly once. The message may be missing after a crash. */
const receive = webhook(
  async (event) => {
    await store.commit(event, () => void pay.run(event.userId));
    await bot.telegram.sendMessage(event.userId, "🎉 10 coins for you. /coins").catch((error: unknown) => {
      // The user may have blocked the bot: the coins count all the same.
      if (!(error instanceof TelegramError)) throw error;
    });
  },
  { tokens: AD_API_TOKEN, store },
);

const server = createServer(toNodeHandler(receive)).listen(Number(PORT), "127.0.0.1");
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close();
    bot.stop(signal);
  });
}
await bot.launch(() => console.log(`@${bot.botInfo?.username} listens; webhooks on port ${PORT}`));
