import { telegramId } from "@intermission/ad-core/client-api";
import { HttpError } from "@intermission/server/http-server";
import type { FastifyInstance } from "fastify";
import type { Facts } from "./facts.ts";

export interface WhatHappenedOptions {
  /** Asks the bot's backend or the ad service. */
  readonly whatHappened: (userId: string) => Promise<Facts>;
}

/** The API of the panel beside the chat: the bot's latest webhooks and this user's balance. */
export function whatHappenedRoutes(app: FastifyInstance, { whatHappened }: WhatHappenedOptions): void {
  app.get<{ Params: { userId: string } }>("/what-happened/:userId", async (request, reply) => {
    const userId = telegramId.safeParse(request.params.userId);
    if (!userId.success) throw new HttpError(400, "BAD_REQUEST", "userId is not a Telegram user id");
    reply.header("cache-control", "no-store");
    try {
      return { outcome: "known", ...(await whatHappened(userId.data)) };
    } catch (error) {
      // Debug level, because the page polls every two seconds and would fill the log while the backend is down.
      request.log.debug({ err: error }, "what happened is unknown: the backend did not answer");
      return { outcome: "unknown" };
    }
  });
}
