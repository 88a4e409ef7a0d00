import { DatabaseSync } from "node:sqlite";
import { createAds, webhook } from "@intermission/publisher";
import { toNodeHandler } from "@intermission/publisher/node";
import { sqliteStore } from "@intermission/publisher/stores";
import { Controller, Get, Module, Param, Post, Req, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { Request, Response } from "express";

const { AD_SERVICE_URL = "", AD_API_TOKEN = "", BOT_ID = "", PORT = "3000", DATABASE = "coins.sqlite" } = process.env;

const database = new DatabaseSync(DATABASE);
database.exec("create table if not exists coins (user_id text not null, amount integer not null)");
const pay = database.prepare("insert into coins values (?, 10)");
const sum = database.prepare("select coalesce(sum(amount), 0) as coins from coins where user_id = ?");

const ads = createAds({ url: AD_SERVICE_URL, token: AD_API_TOKEN, botId: BOT_ID });
const store = sqliteStore(database);
const receive = toNodeHandler(
  webhook((event) => store.commit(event, () => void pay.run(event.userId)), { tokens: AD_API_TOKEN, store }),
);

@Controller()
class AdsController {
  @Post("webhooks/ads")
  webhook(@Req() request: Request, @Res() response: Response) {
    return receive(request, response);
  }

  // Your bot would call these two; here anybody on this machine may.
  @Get("ads/:userId")
  ad(@Param("userId") userId: string) {
    return ads.createCode({ userId });
  }

  @Get("coins/:userId")
  coins(@Param("userId") userId: string) {
    return { coins: sum.get(userId)?.coins };
  }
}

@Module({ controllers: [AdsController] })
class AppModule {}

// The signature covers the bytes as they arrive, which Nest keeps only with `rawBody`.
const app = await NestFactory.create(AppModule, { rawBody: true, logger: ["error", "warn"] });
await app.listen(Number(PORT), "127.0.0.1");
