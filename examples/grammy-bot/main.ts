import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { createAds, webhook } from "@intermission/publisher";
import { type AdsFlavor, adsMiddleware, bonusCommand } from "@intermission/publisher/grammy";
import { toNodeHandler } from "@intermission/publisher/node";
import { sqliteStore } from "@intermission/publisher/stores";
import { Bot, type Context, GrammyError } from "grammy";

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
const bot = new Bot<Context & AdsFlavor>(TELEGRAM_BOT_TOKEN, { client: { apiRoot: BOT_API_URL } });
bot.use(adsMiddleware(ads), bonusCommand(ads));
bot.command("start", (ctx) => ctx.reply("/bonus: watch an ad for 10 coins. /coins: how many you have."));
bot.command("coins", (ctx) => ctx.reply(`You have ${sum.get(String(ctx.from?.id))?.coins} coins.`));
bot.catch(({ error }) => console.error("an update failed:", error));

const store = sqliteStore(database);
/** The coins are committed together with the event, exactly once. The message may be missing after a crash. */
const receive = webhook(
  async (event) => {
    const { userId } = event;
    await store.commit(event, () => void pay.run(userId));
    await bot.api.sendMessage(userId, "🎉 10 coins for you. /coins").catch((error: unknown) => {
      // The user may have blocked the bot: the coins count all the same.
      if (!(error instanceof GrammyError)) throw error;
    });
  },
  { tokens: AD_API_TOKEN, store },
);

const server = createServer(toNodeHandler(receive)).listen(Number(PORT), "127.0.0.1");
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    await bot.stop();
  });
}
await bot.start({ onStart: ({ username }) => console.log(`@${username} listens; webhooks on port ${PORT}`) });
