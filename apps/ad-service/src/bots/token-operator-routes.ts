import { telegramId } from "@intermission/ad-core/client-api";
import { parseRequest } from "@intermission/server/parse-request";
import { conflict, notFound } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { activateToken } from "./activate-token.ts";
import { createToken } from "./create-token.ts";
import type { BotOperatorDeps } from "./operator-routes.ts";
import { requireBots, unknownBot } from "./require-bots.ts";
import { revokeToken } from "./revoke-token.ts";

const ofBot = z.object({ botId: telegramId });
const ofToken = ofBot.extend({ tokenId: z.string().regex(/^tok_[0-9A-Za-z]{1,40}$/, "must look like tok_…") });

export function tokenOperatorRoutes(scope: FastifyInstance, deps: BotOperatorDeps): void {
  const { database, now } = deps;

  scope.post("/bots/:botId/tokens", async (request, reply) => {
    const { botId } = parseRequest(ofBot, request.params);
    const created = await createToken(deps, { botId, now: now() });
    if (created.outcome === "unknown-bot") throw unknownBot(botId);
    if (created.outcome === "next-exists") {
      const next = created.tokenId;
      throw conflict(
        "NEXT_TOKEN_EXISTS",
        `${next} is waiting to be activated; activate or revoke it before making another`,
      );
    }
    return reply.code(201).send({ botId, ...created.entry, token: created.token });
  });

  scope.post("/bots/:botId/tokens/:tokenId/activate", async (request) => {
    const id = parseRequest(ofToken, request.params);
    await requireBots(database, [id.botId]);
    const activated = await activateToken(database, { ...id, now: now() });
    if (activated.outcome === "unknown-token") throw unknownToken(id);
    if (activated.outcome === "not-next") {
      throw conflict("TOKEN_NOT_NEXT", `${id.tokenId} is ${activated.state}; only the next token can be activated`);
    }
    return { ...id, state: "active", retiring: activated.retiring };
  });

  scope.post("/bots/:botId/tokens/:tokenId/revoke", async (request) => {
    const id = parseRequest(ofToken, request.params);
    await requireBots(database, [id.botId]);
    const revoked = await revokeToken(database, { ...id, now: now() });
    if (revoked.outcome === "unknown-token") throw unknownToken(id);
    if (revoked.outcome === "already-revoked") throw conflict("TOKEN_REVOKED", `${id.tokenId} is revoked already`);
    return { ...id, state: "revoked", activatedTokenId: revoked.activatedTokenId, isLast: revoked.isLast };
  });
}

function unknownToken({ botId, tokenId }: { botId: string; tokenId: string }) {
  return notFound(`bot ${botId} has no token ${tokenId}; see its tokens with: bots show ${botId}`);
}
