import { DatabaseSync } from "node:sqlite";
import { serve } from "@hono/node-server";
import { createAds, webhook } from "@intermission/publisher";
import { sqliteStore } from "@intermission/publisher/stores";
import { Hono } from "hono";

const { AD_SERVICE_URL = "", AD_API_TOKEN = "", BOT_ID = "", PORT = "3000", DATABASE = "coins.sqlite" } = process.env;

const database = new DatabaseSync(DATABASE);
database.exec("create table if not exists coins (user_id text not null, amount integer not null)");
const pay = database.prepare("insert into coins values (?, 10)");
const sum = database.prepare("select coalesce(sum(amount), 0) as coins from coins where user_id = ?");

const ads = createAds({ url: AD_SERVICE_URL, token: AD_API_TOKEN, botId: BOT_ID });
const store = sqliteStore(database);
const receive = webhook((event) => store.commit(event, () => void pay.run(event.userId)), {
  tokens: AD_API_TOKEN,
  store,
});

const app = new Hono()
  .post("/webhooks/ads", (c) => receive(c.req.raw))
  // Your bot would call these two; here anybody on this machine may.
  .get("/ads/:userId", async (c) => c.json(await ads.createCode({ userId: c.req.param("userId") })))
  .get("/coins/:userId", (c) => c.json({ coins: sum.get(c.req.param("userId"))?.coins }));

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(PORT) });
