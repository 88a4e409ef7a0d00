import { telegramId } from "@intermission/ad-core/client-api";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { conflict, notFound } from "@intermission/server/refuse";
import { z } from "zod";
import { type Bots, forgetBot, requireBots, unknownBot } from "../bots/bots.ts";
import { findCode } from "../codes/describe-code.ts";
import { eraseUser } from "./erase-user.ts";
import { readViewerLimits, timelineOfCodes, timelineOfUser } from "./read-timeline.ts";

const params = z.object({ botId: telegramId, userId: telegramId });
const operations = {
  GET: { operationId: "countRecordsOfUser", description: "Counts what is stored of a user, without erasing it." },
  DELETE: { operationId: "eraseUser", description: "Erases what is stored of a user; the statistics keep their sums." },
};

const entry = z.object({
  at: z.date(),
  step: z.string().describe("Such as `view-opened`, `earned` or `webhook-answered`."),
  code: z.string().nullable(),
  id: z.string().nullable().describe("Of the view, the click or the event."),
  campaignId: z.string().nullable(),
  creativeId: z.string().nullable(),
  amountMicros: z.number().nullable().describe("Of a charge, a refund or a conversion."),
  detail: z.string().nullable(),
});
const timelines = {
  user: {
    operationId: "readTimelineOfUser",
    description: "What happened to the latest codes of a user, from the code to the answered webhook, in order.",
    params,
    querystring: z.object({ codes: z.coerce.number().int().min(1).max(100).default(10) }),
    response: {
      200: z.object({
        ...{ botId: z.string(), userId: z.string(), isTester: z.boolean(), earnedToday: z.number() },
        ...{
          dailyCap: z.number(),
          cooldownSeconds: z.number(),
          lastEarnedAt: z.date().nullable(),
          currency: z.string(),
        },
        hasOlder: z.boolean().describe("Whether the user has more codes than these entries name."),
        entries: z.array(entry),
      }),
    },
  },
  code: {
    operationId: "readTimelineOfCode",
    description: "What happened to a code, from its issue to the answered webhook, in order.",
    params: z.object({ code: z.string().max(64) }),
    response: {
      200: z.object({
        ...{ code: z.string(), botId: z.string(), userId: z.string(), reference: z.string().nullable() },
        ...{ issuedAt: z.date(), expiresAt: z.date(), isExpired: z.boolean(), earned: z.array(z.string()) },
        currency: z.string(),
        entries: z.array(entry),
      }),
    },
  },
};

/** The timelines of users and codes; `GET` counts the records of a user, `DELETE` erases them. */
export function userOperatorRoutes(
  scope: CheckedScope,
  { database, bots, currency, now }: { database: Database; bots: Bots; currency: string; now: () => Date },
): void {
  scope.get("/bots/:botId/users/:userId/timeline", { schema: timelines.user }, async ({ params, query }) => {
    const limits = await readViewerLimits(database, { ...params, now: now() });
    if (limits === undefined) throw unknownBot(params.botId);
    return {
      ...params,
      ...limits,
      currency,
      ...(await timelineOfUser(database, { ...params, maxCodes: query.codes })),
    };
  });

  scope.get("/codes/:code", { schema: timelines.code }, async ({ params: { code } }) => {
    const found = await findCode(database, { code, now: now() });
    if (!found) throw notFound("there is no such code: it has 16 letters and digits, as codes.create returned it");
    return { ...found, currency, entries: await timelineOfCodes(database, { botId: found.botId, codes: [code] }) };
  });

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
