import { clickResponse } from "@intermission/ad-core/player-api";
import type { Database } from "@intermission/postgres/open-database";
import { checkRequests, refusals } from "@intermission/server/checked-routes";
import type { CountedRequest } from "@intermission/server/counted-calls";
import { HttpError } from "@intermission/server/http-server";
import { rateLimiter, spend } from "@intermission/server/rate-limiter";
import { openKnownAgents, type RequestHeaders, recognisePerson } from "@intermission/server/visitor";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { countAdClick } from "./count-ad-click.ts";
import { adRows } from "./find-ad.ts";
import { botOfView } from "./view-ids.ts";

const ofClick = {
  params: z.object({ sessionId: z.string() }),
  querystring: z.object({
    key: z.string().catch(""),
    place: z
      .literal("end-card")
      .optional()
      .catch(undefined)
      .describe("The tap was on the end card's picture or its call to action: its own page, and its own trackers."),
  }),
};
const followCallToAction = {
  operationId: "followCallToAction",
  description: "Counts a tap on the ad's call to action once, and redirects to the advertiser's page.",
  ...ofClick,
  response: {
    302: z.undefined().describe("To the landing page."),
    204: z.undefined().describe("Only a prefetch."),
    ...refusals(429),
  },
};
const countCallToAction = {
  operationId: "countCallToAction",
  description: "Counts the same tap where the mini-app has opened the page itself, inside Telegram.",
  ...ofClick,
  response: { 200: clickResponse, ...refusals(429) },
};

/**
 * `/player/v1/sessions/{id}/click?key=`, the target of a video's call to action. `GET` opens in a separate browser, `POST` is a
 * call of the mini-app; both count the same click, within the same limits.
 */
export function adClickRoutes(app: FastifyInstance, deps: { database: Database; now?: () => Date }): void {
  const { database, now = () => new Date() } = deps;
  const ads = adRows(database);
  const taps = rateLimiter({ quota: 20, windowSeconds: 20, maxKeys: 50_000 });
  const agents = openKnownAgents();

  async function follow(request: Tap) {
    const { params, query, method, headers } = request;
    const { sessionId: viewId } = params;
    const botId = botOfView(viewId);
    if (!botId) throw unknownView();
    const at = now();
    spend(request, taps, viewId, at);
    const visitor = recognisePerson(agents, method, headers);
    const isMachine = visitor.kind === "machine";
    const click = { botId, viewId, key: query.key, isOnEndCard: query.place === "end-card", isMachine, now: at };
    const outcome = await countAdClick({ database, ads }, click);
    if (outcome.outcome === "unknown") throw unknownView();
    return { ...outcome, visitor, at };
  }

  app.register(async (app) => {
    const scope = checkRequests(app);
    scope.get(path, { schema: followCallToAction }, async (request, reply) => {
      const { url, visitor } = await follow(request);
      reply.headers({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex, nofollow",
      });
      // A browser that only prefetched must request the address again when its user follows the link.
      if (visitor.kind === "machine" && visitor.reason === "prefetch") return reply.code(204).send();
      return reply.redirect(url, 302);
    });

    // The page may be of another origin, on a CDN; the key in the address authorizes one click.
    const anyOrigin = { "access-control-allow-origin": "*", "cache-control": "no-store" };
    scope.post(path, { schema: countCallToAction }, async (request, reply) => {
      reply.headers(anyOrigin);
      const { isCounted, at } = await follow(request);
      return { outcome: isCounted ? "counted" : "not-counted", server_time: at.toISOString() } as const;
    });
  });
}

const path = "/player/v1/sessions/:sessionId/click";

interface Tap extends CountedRequest {
  params: z.infer<typeof ofClick.params>;
  query: z.infer<typeof ofClick.querystring>;
  method: string;
  headers: RequestHeaders;
}

function unknownView(): HttpError {
  return new HttpError(404, "NOT_FOUND", "the session is unknown, or its ad has no landing page");
}
