import { telegramId } from "@intermission/ad-core/client-api";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { forgetBot } from "../bots/find-bot.ts";
import { parseRequest } from "../parse-request.ts";
import { eraseUser } from "../users/erase-user.ts";
import { conflict } from "./refuse.ts";
import { requireBots } from "./require-known.ts";

const ofUser = z.object({ botId: telegramId, userId: telegramId });

/** `GET` counts the records of a user; `DELETE` erases them. */
export function userEndpoints(scope: FastifyInstance, { database }: { database: AdDatabase }): void {
  for (const method of ["GET", "DELETE"] as const) {
    scope.route({
      method,
      url: "/bots/:botId/users/:userId",
      handler: async (request) => {
        const id = parseRequest(ofUser, request.params);
        await requireBots(database, [id.botId]);
        const outcome = await eraseUser(database, { ...id, isMeant: method === "DELETE" });
        if (outcome.outcome === "being-sent") {
          throw conflict("BEING_SENT", `a webhook of user ${id.userId} is being sent now; try again in a minute`);
        }
        forgetBot(database, id.botId);
        return {
          ...id,
          isErased: outcome.outcome === "erased",
          undelivered: outcome.undelivered,
          tables: outcome.tables,
        };
      },
    });
  }
}
