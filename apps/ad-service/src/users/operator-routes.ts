import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { conflict } from "@intermission/server/refuse";
import { z } from "zod";
import { type Bots, forgetBot, requireBots } from "../bots/bots.ts";
import { eraseUser } from "./erase-user.ts";

const params = z.object({ botId: telegramId, userId: telegramId });
const operations = {
  GET: { operationId: "countRecordsOfUser", description: "Counts what is stored of a user, without erasing it." },
  DELETE: { operationId: "eraseUser", description: "Erases what is stored of a user; the statistics keep their sums." },
};

/** `GET` counts the records of a user; `DELETE` erases them. */
export function userOperatorRoutes(scope: CheckedScope, { database, bots }: { database: Database; bots: Bots }): void {
  for (const method of ["GET", "DELETE"] as const) {
    scope.route({
      method,
      url: "/bots/:botId/users/:userId",
      schema: { ...operations[method], params, response: { 200: z.unknown(), ...refusals(409) } },
      handler: async (request) => {
        const id = request.params;
        await requireBots(database, [id.botId]);
        const outcome = await eraseUser(database, { ...id, isMeant: method === "DELETE" });
        if (outcome.outcome === "being-sent") {
          throw conflict("BEING_SENT", `a webhook of user ${id.userId} is being sent now; try again in a minute`);
        }
        forgetBot(bots, id.botId);
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
