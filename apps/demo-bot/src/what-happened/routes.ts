import { telegramId } from "@intermission/ad-core/client-api";
import { HttpError } from "@intermission/http-server/http-server";
import type { FastifyInstance } from "fastify";
import type { PublisherApi } from "../rewards/publisher-api.ts";

/** The panel beside the chat: the webhooks as they came, and what the ledger says of this user. */
export function whatHappenedRoutes(
  app: FastifyInstance,
  { api }: { readonly api: Pick<PublisherApi, "receipts" | "rewards"> },
): void {
  app.get<{ Params: { userId: string } }>("/what-happened/:userId", async (request, reply) => {
    const userId = telegramId.safeParse(request.params.userId);
    if (!userId.success) throw new HttpError(400, "BAD_REQUEST", "that is not a user's id");
    reply.header("cache-control", "no-store");
    try {
      const [receipts, { balance }] = await Promise.all([
        api.receipts.latest.query({ limit: 10 }),
        api.rewards.balance.query({ userId: userId.data }),
      ]);
      return { outcome: "known", receipts, balance };
    } catch (error) {
      // The page asks every few seconds: while the API is down, its absence is news only once.
      request.log.debug({ err: error }, "the companion API did not answer");
      return { outcome: "unknown" };
    }
  });
}
