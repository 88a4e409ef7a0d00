import { createCodeRequest, listEventsQuery, telegramId } from "@intermission/ad-core/client-api";
import { HttpError } from "@intermission/http-server/http-server";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import type { CampaignSnapshot } from "../ad-selection/campaign-snapshot.ts";
import { availabilityAnswer, describeAvailability } from "../ad-sessions/describe-availability.ts";
import { describeCode } from "../codes/describe-code.ts";
import { issueCode } from "../codes/issue-code.ts";
import { parseRequest } from "../parse-request.ts";
import type { Deliveries } from "../webhook-delivery/deliveries.ts";
import { listEvents } from "../webhook-delivery/list-events.ts";
import type { EndpointTests } from "../webhook-endpoints/test-endpoint.ts";
import { type RateLimitSettings, rateLimits } from "./apply-rate-limits.ts";
import { authenticateRequest, callerOf } from "./authenticate-request.ts";
import { type CodeLinks, createCodeAnswer, describeCodeAnswer, listEventsAnswer } from "./client-answers.ts";
import { openapiDocument } from "./openapi-document.ts";
import { statsRoutes } from "./stats-routes.ts";
import { webhookRoutes } from "./webhook-routes.ts";

const lostCursor =
  "this service was restored from a backup that is older than the cursor: read the feed from its start, and skip the event ids that you have";

export interface ClientApiDeps {
  database: AdDatabase;
  campaigns: CampaignSnapshot;
  deliveries: Deliveries;
  endpointTests: Pick<EndpointTests, "testEndpoint">;
  rateLimits: RateLimitSettings;
  /** The currency of all prices (ISO 4217). */
  currency: string;
  publicUrl: string;
  links: CodeLinks;
  now?: () => Date;
}

// PostgreSQL does not store NUL, and half a surrogate pair would be read back as different text.
const isStorable = (text: string) => text.isWellFormed() && !text.includes("\0");
const codeRequest = createCodeRequest.refine(({ reference = "" }) => isStorable(reference), {
  path: ["reference"],
  error: "must be well-formed text without U+0000",
});
const availabilityQuery = z.object({ user_tg_id: telegramId });

/** `/client/v1`: the API for publishers. */
export function clientApiRoutes(app: FastifyInstance, deps: ClientApiDeps): void {
  const document = openapiDocument(deps.publicUrl);
  app.get("/client/v1/openapi.json", (_request, reply) => reply.header("cache-control", "max-age=300").send(document));
  app.register(async (scope) => publisherRoutes(scope, deps), { prefix: "/client/v1" });
}

function publisherRoutes(scope: FastifyInstance, deps: ClientApiDeps): void {
  const { database, now = () => new Date() } = deps;
  const limits = rateLimits(deps.rateLimits);

  // Fastify parses text/plain too; this API accepts only JSON.
  scope.removeContentTypeParser("text/plain");
  scope.decorateRequest("caller", undefined);
  scope.addHook("onRequest", async (request, reply) => {
    reply.header("cache-control", "no-store");
    limits.countRequest(reply, await authenticateRequest(database, request, now()));
  });

  // Exactly 200: a deployed client treats 201 as an error.
  scope.post("/codes", async (request, reply) => {
    const { bot_id: botId, user_tg_id: userId, reference } = parseRequest(codeRequest, request.body);
    const caller = callerOf(request);
    if (botId !== caller.bot.botId) throw new HttpError(403, "FORBIDDEN", "the token belongs to another bot");
    limits.countCode(reply, caller, userId);
    const at = now();
    const issued = await issueCode(database, { bot: caller.bot, userId, reference, now: at });
    return createCodeAnswer(issued, { botId, links: deps.links, now: at });
  });

  scope.get<{ Params: { code: string } }>("/codes/:code", async (request) => {
    const { botId } = callerOf(request).bot;
    const described = await describeCode(database, { botId, code: request.params.code, now: now() });
    if (described.outcome === "unknown-code") throw new HttpError(404, "NOT_FOUND", "this bot has no such code");
    return describeCodeAnswer(described.code);
  });

  scope.get("/availability", async (request) => {
    const { user_tg_id: userId } = parseRequest(availabilityQuery, request.query);
    const { bot } = callerOf(request);
    const formats = ["rewarded", "direct_link"] as const;
    return availabilityAnswer(await describeAvailability(deps, { bot, userId, formats, now: now() }));
  });

  scope.get("/events", async (request) => {
    const { after, limit } = parseRequest(listEventsQuery, request.query);
    const page = await listEvents(database, { botId: callerOf(request).bot.botId, after, limit });
    if (page.outcome === "bad-cursor") throw new HttpError(400, "BAD_REQUEST", "after is not a cursor of this feed");
    if (page.outcome === "lost-cursor") throw new HttpError(410, "CURSOR_LOST", lostCursor);
    return listEventsAnswer(page);
  });

  statsRoutes(scope, deps);
  webhookRoutes(scope, deps);
}
