import { telegramId } from "@intermission/ad-core/client-api";
import { isPlainHttp } from "@intermission/ad-core/web-address";
import type { Database } from "@intermission/postgres/open-database";
import { givenFields, parseRequest } from "@intermission/server/parse-request";
import { conflict, invalidField, notFound } from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { botSettings } from "./bot-settings.ts";
import { type Bot, listBots, readBot, requireBots, unknownBot } from "./bots.ts";
import { addBot, resumeBot, suspendBot, type UpdateBotOutcome, updateBot } from "./change-bot.ts";
import { activateToken, createToken, readTokens, revokeToken } from "./tokens.ts";

export interface BotOperatorDeps {
  database: Database;
  secretBox: SecretBox;
  /** Base address of the mini-apps, without a bot's id. */
  miniappUrl: string;
  /** False in production: webhooks and mini-apps then use https only. */
  isPlainHttpAllowed: boolean;
  now: () => Date;
}

const newBot = botSettings.partial().extend({ botId: telegramId }).strict();
const changes = botSettings
  .partial()
  .strict()
  .refine((given) => Object.values(given).some((value) => value !== undefined), "name at least one setting to change");
const params = z.object({ botId: telegramId });

export function botOperatorRoutes(scope: FastifyInstance, deps: BotOperatorDeps): void {
  const { database, now } = deps;
  const shown = (bot: Bot) => ({ ...bot, miniappUrl: `${deps.miniappUrl}/${bot.botId}` });
  const answer = (outcome: UpdateBotOutcome, botId: string) => {
    if (outcome.outcome === "unknown-bot") throw unknownBot(botId);
    return shown(outcome.bot);
  };

  scope.post("/bots", async (request, reply) => {
    const { botId, ...settings } = parseRequest(newBot, request.body);
    checkAddresses(settings, deps.isPlainHttpAllowed);
    const added = await addBot(deps, { botId, settings: givenFields(settings), now: now() });
    if (added.outcome === "bot-exists") {
      throw conflict("BOT_EXISTS", `bot ${botId} exists already; see it with: bots show ${botId}`);
    }
    return reply.code(201).send({ ...shown(added.bot), tokenId: added.entry.tokenId, token: added.token });
  });

  scope.get("/bots", async () => ({ bots: (await listBots(database)).map(shown) }));

  scope.get("/bots/:botId", async (request) => {
    const { botId } = parseRequest(params, request.params);
    const bot = await readBot(database, botId);
    if (!bot) throw unknownBot(botId);
    return { ...shown(bot), tokens: await readTokens(database, { botId, now: now() }) };
  });

  scope.patch("/bots/:botId", async (request) => {
    const { botId } = parseRequest(params, request.params);
    const settings = parseRequest(changes, request.body);
    checkAddresses(settings, deps.isPlainHttpAllowed);
    return answer(await updateBot(database, { botId, settings: givenFields(settings), now: now() }), botId);
  });

  scope.post("/bots/:botId/suspend", async (request) => {
    const { botId } = parseRequest(params, request.params);
    return answer(await suspendBot(database, { botId, now: now() }), botId);
  });

  scope.post("/bots/:botId/resume", async (request) => {
    const { botId } = parseRequest(params, request.params);
    return answer(await resumeBot(database, { botId, now: now() }), botId);
  });
}

function checkAddresses(
  {
    webhookUrl,
    publisherApiUrl,
  }: { webhookUrl?: string | null | undefined; publisherApiUrl?: string | null | undefined },
  isPlainHttpAllowed: boolean,
): void {
  for (const [field, address] of Object.entries({ webhookUrl, publisherApiUrl })) {
    if (address && isPlainHttp(address) && !isPlainHttpAllowed) {
      throw invalidField(field, "must begin with https:// in production");
    }
  }
}

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
