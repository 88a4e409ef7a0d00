import { telegramId } from "@intermission/ad-core/client-api";
import type { FastifyInstance } from "fastify";
import type { PublisherApi } from "../publisher-api.ts";

/** The panel beside the chat: the webhooks as they came, and what the ledger says of this user. */
export function whatHappenedRoutes(app: FastifyInstance, { api }: { readonly api: PublisherApi }): void {
  app.get<{ Params: { userId: string } }>("/what-happened/:userId", async (request, reply) => {
    const userId = telegramId.safeParse(request.params.userId);
    if (!userId.success) return reply.code(400).send({ error: { code: "BAD_REQUEST", message: "not a user's id" } });
    reply.header("cache-control", "no-store");
    try {
      const [receipts, { balance }] = await Promise.all([
        api.receipts.latest.query({ limit: 10 }),
        api.rewards.balance.query({ userId: userId.data }),
      ]);
      return { outcome: "known", receipts, balance };
    } catch (error) {
      request.log.warn({ err: error }, "the companion API did not answer");
      return { outcome: "unknown" };
    }
  });
}
