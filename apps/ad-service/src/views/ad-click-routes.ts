import type { Database } from "@intermission/postgres/open-database";
import { checkRequests, refusals } from "@intermission/server/checked-routes";
import { HttpError } from "@intermission/server/http-server";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import { openKnownAgents, recognisePerson } from "@intermission/server/visitor";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { botOfView } from "../codes/view-ids.ts";
import { countAdClick } from "./count-ad-click.ts";
import { adRows } from "./find-ad.ts";

const followCallToAction = {
  operationId: "followCallToAction",
  description: "Counts a tap on the ad's call to action once, and redirects to the advertiser's page.",
  params: z.object({ sessionId: z.string() }),
  querystring: z.object({
    key: z.string().catch(""),
    place: z
      .literal("end-card")
      .optional()
      .catch(undefined)
      .describe("The tap was on the end card's picture or its call to action: its own page, and its own trackers."),
  }),
  response: {
    302: z.undefined().describe("To the landing page."),
    204: z.undefined().describe("Only a prefetch."),
    ...refusals(429),
  },
};

/** `GET /player/v1/sessions/{id}/click?key=`, the target of a video's call to action. It opens in a separate browser. */
export function adClickRoutes(app: FastifyInstance, deps: { database: Database; now?: () => Date }): void {
  const { database, now = () => new Date() } = deps;
  const ads = adRows(database);
  const taps = rateLimiter({ quota: 20, windowSeconds: 20, maxKeys: 50_000 });
  const agents = openKnownAgents();

  app.register(async (scope) => {
    const route = { schema: followCallToAction };
    checkRequests(scope).get("/player/v1/sessions/:sessionId/click", route, async (request, reply) => {
      const { sessionId: viewId } = request.params;
      const { key, place } = request.query;
      const botId = botOfView(viewId);
      if (!botId) throw unknownView();
      const at = now();
      spend(taps, viewId, at);
      const visitor = recognisePerson(agents, request.method, request.headers);
      const isMachine = visitor.kind === "machine";
      const click = { botId, viewId, key, isOnEndCard: place === "end-card", isMachine, now: at };
      const outcome = await countAdClick({ database, ads }, click);
      if (outcome.outcome === "unknown") throw unknownView();
      reply.headers({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex, nofollow",
      });
      // A browser that only prefetched must request the address again when its user follows the link.
      if (visitor.kind === "machine" && visitor.reason === "prefetch") return reply.code(204).send();
      return reply.redirect(outcome.url, 302);
    });
  });
}

function unknownView(): HttpError {
  return new HttpError(404, "NOT_FOUND", "the session is unknown, or its ad has no landing page");
}
