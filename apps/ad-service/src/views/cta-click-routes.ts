import { callBudget } from "@intermission/server/call-budget";
import { HttpError } from "@intermission/server/http-server";
import { recognisePerson } from "@intermission/server/recognise-person";
import type { FastifyInstance } from "fastify";
import type { AdDatabase } from "../ad-database.ts";
import { countAdClick } from "./count-ad-click.ts";
import { adRows } from "./find-ad.ts";
import { botOfSession } from "./session-id.ts";

/** `GET /player/v1/sessions/{id}/click?key=`, the target of a video's call to action. It opens in a separate browser. */
export function adClickRoutes(app: FastifyInstance, deps: { database: AdDatabase; now?: () => Date }): void {
  const { database, now = () => new Date() } = deps;
  const ads = adRows(database);
  const taps = callBudget({ perSecond: 1, burst: 20, mostKeys: 50_000 });

  app.get<{ Params: { sessionId: string }; Querystring: { key?: unknown } }>(
    "/player/v1/sessions/:sessionId/click",
    async (request, reply) => {
      const { sessionId } = request.params;
      const botId = botOfSession(sessionId);
      if (!botId) throw unknownSession();
      const at = now();
      const waitSeconds = taps(sessionId, at);
      if (waitSeconds > 0) {
        const headers = { "retry-after": String(waitSeconds) };
        throw new HttpError(429, "TOO_MANY_REQUESTS", "slow down", { headers });
      }
      const visitor = recognisePerson(request.method, request.headers);
      const key = typeof request.query.key === "string" ? request.query.key : "";
      const isMachine = visitor.kind === "machine";
      const outcome = await countAdClick({ database, ads }, { botId, sessionId, key, isMachine, now: at });
      if (outcome.outcome === "unknown") throw unknownSession();
      reply.headers({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "x-robots-tag": "noindex, nofollow",
      });
      // A browser that only prefetched must request the address again when its user follows the link.
      if (visitor.kind === "machine" && visitor.reason === "prefetch") return reply.code(204).send();
      return reply.redirect(outcome.url, 302);
    },
  );
}

function unknownSession(): HttpError {
  return new HttpError(404, "NOT_FOUND", "the session is unknown, or its ad has no landing page");
}
