import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { parseRequest } from "@intermission/server/parse-request";
import { conflict } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { forgetBot, requireBots } from "../bots/bots.ts";
import { eraseUser } from "./erase-user.ts";

const ofUser = z.object({ botId: telegramId, userId: telegramId });

/** `GET` counts the records of a user; `DELETE` erases them. */
export function userOperatorRoutes(scope: FastifyInstance, { database }: { database: Database }): void {
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
