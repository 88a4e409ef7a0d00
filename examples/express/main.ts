import { DatabaseSync } from "node:sqlite";
import { createAds, webhook } from "@intermission/publisher";
import { toNodeHandler } from "@intermission/publisher/node";
import { sqliteStore } from "@intermission/publisher/stores";
import express from "express";

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

const app = express();
// Before any parser of bodies: the signature covers the bytes as they arrive.
app.post("/webhooks/ads", toNodeHandler(receive));
app.use(express.json());
// Your bot would call these two; here anybody on this machine may.
app.get("/ads/:userId", async (request, response) => {
  response.json(await ads.createCode({ userId: request.params.userId }));
});
app.get("/coins/:userId", (request, response) => {
  response.json({ coins: sum.get(request.params.userId)?.coins });
});
app.listen(Number(PORT), "127.0.0.1");
