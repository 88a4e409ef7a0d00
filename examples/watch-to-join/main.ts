import { createServer } from "node:http";
import { createAds, webhook } from "@intermission/publisher";
import { joinRequests } from "@intermission/publisher/grammy";
import { fileStore, toNodeHandler } from "@intermission/publisher/node";
import { Bot } from "grammy";

const { TELEGRAM_BOT_TOKEN = "", AD_SERVICE_URL = "", AD_API_TOKEN = "", PORT = "3000" } = process.env;
const { BOT_API_URL = "https://api.telegram.org", EVENTS_FILE = "ad-events.txt" } = process.env;

const bot = new Bot(TELEGRAM_BOT_TOKEN, { client: { apiRoot: BOT_API_URL } });
const ads = createAds({ url: AD_SERVICE_URL, token: AD_API_TOKEN, botId: TELEGRAM_BOT_TOKEN.split(":")[0] ?? "" });
const store = fileStore(EVENTS_FILE);
const joins = joinRequests(ads, { api: bot.api, store });

bot.use(joins);
bot.catch(({ error }) => console.error("an update failed:", error));

const receive = webhook(
  async (event) => {
    if (await joins.approve(event)) return;
    console.log("something else was earned:", event.reference);
  },
  { tokens: AD_API_TOKEN, store },
);
createServer(toNodeHandler(receive)).listen(Number(PORT), "127.0.0.1");

const decide = () => joins.decideLate().catch((error) => console.error("late requests wait:", error));
setInterval(decide, 60_000);
await decide();

await bot.start({ onStart: ({ username }) => console.log(`@${username} listens; webhooks on port ${PORT}`) });
