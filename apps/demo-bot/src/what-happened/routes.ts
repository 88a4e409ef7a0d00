import { telegramId } from "@intermission/ad-core/client-api";
import { HttpError } from "@intermission/server/http-server";
import type { FastifyInstance } from "fastify";
import type { PublisherApi } from "../rewards/publisher-api.ts";

/** The API of the panel beside the chat: the received webhooks and this user's ledger entries. */
export function whatHappenedRoutes(
  app: FastifyInstance,
  { api }: { readonly api: Pick<PublisherApi, "receipts" | "rewards"> },
): void {
  app.get<{ Params: { userId: string } }>("/what-happened/:userId", async (request, reply) => {
    const userId = telegramId.safeParse(request.params.userId);
    if (!userId.success) throw new HttpError(400, "BAD_REQUEST", "userId is not a Telegram user id");
    reply.header("cache-control", "no-store");
    try {
      const [receipts, { balance }] = await Promise.all([
        api.receipts.latest.query({ limit: 10 }),
        api.rewards.balance.query({ userId: userId.data }),
      ]);
      return { outcome: "known", receipts, balance };
    } catch (error) {
      // Debug level, because the page polls every two seconds and would fill the log while the API is down.
      request.log.debug({ err: error }, "the companion API did not answer");
      return { outcome: "unknown" };
    }
  });
}
