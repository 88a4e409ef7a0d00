import { userRoutes } from "@intermission/operator-api/users";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { type Bots, findBot, forgetBot, requireBots, unknownBot } from "../bots/bots.ts";
import { findCode } from "../codes/describe-code.ts";
import { blockOfViewer } from "../views/describe-availability.ts";
import { outcomesOf, verdictOfCode } from "./code-verdict.ts";
import { eraseUser } from "./erase-user.ts";
import { findTimelines } from "./find-timelines.ts";
import { readViewerLimits, timelineOfCodes, timelineOfUser } from "./read-timeline.ts";

/** The timelines of users and codes, found by any of their ids; `GET` counts the records of a user, `DELETE` erases them. */
export function userOperatorRoutes(
  scope: CheckedScope,
  { database, bots, currency, now }: { database: Database; bots: Bots; currency: string; now: () => Date },
): void {
  async function erase(
    { params: id, http }: { params: { botId: string; userId: string }; http: FastifyRequest },
    { isMeant }: { isMeant: boolean },
  ) {
    await requireBots(database, [id.botId]);
    const outcome = await eraseUser(database, { ...id, isMeant, author: isMeant ? authorOf(http) : undefined });
    if (outcome.outcome === "being-sent") {
      throw conflict("BEING_SENT", `a webhook of user ${id.userId} is being sent now; try again in a minute`);
    }
    forgetBot(bots, id.botId);
    const { undelivered, tables } = outcome;
    return { ...id, isErased: outcome.outcome === "erased", undelivered, tables };
  }

  serveOperatorRoutes(scope, userRoutes, {
    findTimelines: async ({ query }) => ({ found: await findTimelines(database, query.text) }),

    async readTimelineOfUser({ params, query }) {
      const limits = await readViewerLimits(database, { ...params, now: now() });
      const bot = await findBot(bots, params.botId);
      if (limits === undefined || bot === undefined) throw unknownBot(params.botId);
      const timeline = await timelineOfUser(database, { ...params, maxCodes: query.codes });
      const blocked =
        (await blockOfViewer(database, { bot, userId: params.userId, format: "rewarded", now: now() })) ?? null;
      return { ...params, ...limits, currency, blocked, codes: outcomesOf(timeline.entries), ...timeline };
    },

    async readTimelineOfCode({ params: { code } }) {
      const found = await findCode(database, { code, now: now() });
      if (!found) throw notFound("there is no such code: it has 18 letters and digits, as codes.create returned it");
      const entries = await timelineOfCodes(database, { botId: found.botId, codes: [code] });
      return { ...found, currency, verdict: verdictOfCode(entries), entries };
    },

    countRecordsOfUser: (request) => erase(request, { isMeant: false }),
    eraseUser: (request) => erase(request, { isMeant: true }),
  });
}
