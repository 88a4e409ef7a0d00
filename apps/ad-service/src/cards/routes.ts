import type { Database } from "@intermission/postgres/open-database";
import { clientNetworks } from "@intermission/server/client-address";
import { countingFor } from "@intermission/server/counted-calls";
import { rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import { openKnownAgents, recognisePerson } from "@intermission/server/visitor";
import type { FastifyInstance } from "fastify";
import { sendLinkPage } from "../clicks/link-page.ts";
import { followCard } from "./record-card.ts";

/** `GET /card/{id}`: the button of a card leads here, and from here to what its network links. */
export function cardRoutes(
  app: FastifyInstance,
  deps: { database: Database; publicUrl: string; now: () => Date },
): void {
  const agents = openKnownAgents();
  const { origin } = new URL(deps.publicUrl);
  const ofAddress = rateLimiter({ quota: 60, windowSeconds: 60, maxKeys: 20_000 });
  app.get<{ Params: { cardId: string } }>("/card/:cardId(^[0-9a-f]{32}$)", async (request, reply) => {
    reply.headers({
      "cache-control": "no-store",
      "x-robots-tag": "noindex, nofollow",
      "referrer-policy": "no-referrer",
    });
    const now = deps.now();
    const seconds = secondsToWait(countingFor(request), ofAddress, clientNetworks(request.ip).client, now);
    if (seconds > 0) {
      reply.header("retry-after", String(seconds));
      return sendLinkPage(request, reply, 429, { name: "too-many-visits", seconds });
    }
    // Previews and crawlers are no visit that the network counts.
    if (recognisePerson(agents, request.method, request.headers, origin).kind === "machine")
      return sendLinkPage(request, reply, 200, { name: "machine" });
    const link = await followCard(deps.database, { cardId: request.params.cardId, now });
    return link === undefined ? sendLinkPage(request, reply, 404, { name: "unknown-code" }) : reply.redirect(link, 302);
  });
}
