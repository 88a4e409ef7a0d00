import { telegramId } from "@intermission/ad-core/client-api";
import { isPlainHttp } from "@intermission/ad-core/web-address";
import { givenFields, parseRequest } from "@intermission/server/parse-request";
import { conflict, invalidField } from "@intermission/server/refuse";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { AdDatabase } from "../ad-database.ts";
import { addBot } from "./add-bot.ts";
import { botSettings } from "./bot-settings.ts";
import { listBots } from "./list-bots.ts";
import { unknownBot } from "./require-bots.ts";
import { type Bot, readBot } from "./rows.ts";
import type { SecretBox } from "./secret-box.ts";
import { readTokens } from "./token-rows.ts";
import { resumeBot, suspendBot, type UpdateBotOutcome, updateBot } from "./update-bot.ts";

export interface BotOperatorDeps {
  database: AdDatabase;
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
