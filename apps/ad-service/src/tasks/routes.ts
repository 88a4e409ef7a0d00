import { clientNetworks } from "@intermission/server/client-address";
import { countingFor } from "@intermission/server/counted-calls";
import { rateLimiter, secondsToWait } from "@intermission/server/rate-limiter";
import { openKnownAgents, recognisePerson } from "@intermission/server/visitor";
import type { FastifyInstance } from "fastify";
import { type LinkPage, sendLinkPage } from "../clicks/link-page.ts";
import { type OpenDeps, type OpenTaskOutcome, openTask } from "./open-task.ts";

const pageOf = {
  "unknown-task": { status: 404, name: "unknown-code" },
  over: { status: 410, name: "expired" },
  "no-ad": { status: 200, name: "no-ad" },
  unavailable: { status: 503, name: "unavailable" },
} as const satisfies Record<Exclude<OpenTaskOutcome["outcome"], "opened">, { status: number; name: LinkPage["name"] }>;

/** Telegram's limits of calls leave room for other openings. */
const RETRY_SECONDS = 5;

/** `GET /task/{code}`: the button of a task leads here, and from here to the invite link of its code. */
export function taskRoutes(app: FastifyInstance, deps: OpenDeps & { now: () => Date; publicUrl: string }): void {
  const agents = openKnownAgents();
  const { origin } = new URL(deps.publicUrl);
  // Each opening may call Telegram.
  const ofAddress = rateLimiter({ quota: 60, windowSeconds: 60, maxKeys: 20_000 });
  app.get<{ Params: { code: string } }>("/task/:code(^[0-9A-Za-z]{8,64}$)", async (request, reply) => {
    reply.headers({
      "cache-control": "no-store",
      "x-robots-tag": "noindex, nofollow",
      "referrer-policy": "no-referrer",
    });
    const now = deps.now();
    const { client } = clientNetworks(request.ip);
    const seconds = secondsToWait(countingFor(request), ofAddress, client, now);
    if (seconds > 0) {
      reply.header("retry-after", String(seconds));
      return sendLinkPage(request, reply, 429, { name: "too-many-visits", seconds });
    }
    // Previews and crawlers get no link: each is for one user.
    const visitor = recognisePerson(agents, request.method, request.headers, origin);
    if (visitor.kind === "machine") return sendLinkPage(request, reply, 200, { name: "machine" });
    const opened = await openTask(deps, { code: request.params.code, now });
    if (opened.outcome === "opened") return reply.redirect(opened.inviteLink, 302);
    const { status, name } = pageOf[opened.outcome];
    if (status === 503) reply.header("retry-after", String(RETRY_SECONDS));
    return sendLinkPage(request, reply, status, { name });
  });
}
