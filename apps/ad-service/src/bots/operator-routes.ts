import { telegramId } from "@intermission/ad-core/client-api";
import { isPlainHttp } from "@intermission/ad-core/web-address";
import type { Database } from "@intermission/postgres/open-database";
import { type CheckedScope, refusals } from "@intermission/server/checked-routes";
import { confirmation, givenFields } from "@intermission/server/parse-request";
import {
  type ConfirmableEffect,
  conflict,
  invalidField,
  notFound,
  requireConfirmation,
} from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import { z } from "zod";
import { unknownAdvertisers } from "../advertisers/similar-advertiser.ts";
import type { ApiTokens } from "./authenticate-client.ts";
import { botSettings } from "./bot-settings.ts";
import { type Bot, type Bots, bot, listBots, readBot, requireBots, unknownBot } from "./bots.ts";
import { addBot, resumeBot, suspendBot, type UpdateBotOutcome, updateBot } from "./change-bot.ts";
import { activateToken, createToken, readTokens, revokeToken, tokenEntry } from "./tokens.ts";

export interface BotOperatorDeps {
  database: Database;
  bots: Bots;
  apiTokens: ApiTokens;
  secretBox: SecretBox;
  /** Base address of the mini-apps, without a bot's id. */
  miniappUrl: string;
  /** False in production: webhooks and mini-apps then use https only. */
  isPlainHttpAllowed: boolean;
  now: () => Date;
}

const newBot = botSettings
  .partial()
  .extend({ botId: telegramId })
  .strict()
  .meta({
    examples: [{ botId: "7000000001", name: "Quiz", webhookUrl: "https://quiz.example/webhooks", dailyCap: 20 }],
  });
const changes = botSettings
  .partial()
  .strict()
  .refine((given) => Object.values(given).some((value) => value !== undefined), "name at least one setting to change")
  .meta({ examples: [{ cooldownSeconds: 300 }] });
const ofBot = z.object({ botId: telegramId });
const ofToken = ofBot.extend({ tokenId: z.string().regex(/^tok_[0-9A-Za-z]{1,40}$/, "must look like tok_…") });

const shownBot = bot.extend({ miniappUrl: z.string() });
const newToken = { tokenId: z.string(), token: z.string().describe("Shown only here.") };
const botOperations = {
  add: {
    operationId: "addBot",
    description: "Adds a bot, and returns its first API token, which is shown once.",
    querystring: confirmation,
    body: newBot,
    response: { 201: shownBot.extend(newToken), ...refusals(409) },
  },
  list: {
    operationId: "listBots",
    description: "Lists the bots with their settings.",
    response: { 200: z.object({ bots: z.array(shownBot) }) },
  },
  show: {
    operationId: "showBot",
    description: "Returns a bot's settings and its tokens, without their secrets.",
    params: ofBot,
    response: { 200: shownBot.extend({ tokens: z.array(tokenEntry) }) },
  },
  update: {
    operationId: "updateBot",
    description: "Changes the given settings of a bot.",
    params: ofBot,
    querystring: confirmation,
    body: changes,
    response: { 200: shownBot, ...refusals(409) },
  },
  suspend: {
    operationId: "suspendBot",
    description: "Suspends a bot: its codes and its API stop.",
    params: ofBot,
    response: { 200: shownBot },
  },
  resume: {
    operationId: "resumeBot",
    description: "Ends a bot's suspension.",
    params: ofBot,
    response: { 200: shownBot },
  },
};
const tokenOperations = {
  create: {
    operationId: "createToken",
    description:
      "Creates the next API token of a bot, shown once; it authenticates immediately, and signs once activated.",
    params: ofBot,
    response: { 201: tokenEntry.extend({ botId: z.string(), ...newToken }), ...refusals(409) },
  },
  activate: {
    operationId: "activateToken",
    description: "Makes the next token the signing one; the previous one is accepted for some days.",
    params: ofToken,
    response: {
      200: z.object({
        botId: z.string(),
        tokenId: z.string(),
        state: z.literal("active"),
        retiring: z.object({ tokenId: z.string(), revokeAt: z.date() }).nullable().describe("The previous one."),
      }),
      ...refusals(409),
    },
  },
  revoke: {
    operationId: "revokeToken",
    description: "Revokes a token.",
    params: ofToken,
    response: {
      200: z.object({
        botId: z.string(),
        tokenId: z.string(),
        state: z.literal("revoked"),
        activatedTokenId: z.string().nullable().describe("The token that replaced it."),
        isLast: z.boolean().describe("Whether the bot has no token now, so that its events are held."),
      }),
      ...refusals(409),
    },
  },
};

export function botOperatorRoutes(scope: CheckedScope, deps: BotOperatorDeps): void {
  const { database, bots, now } = deps;
  const shown = (bot: Bot) => ({ ...bot, miniappUrl: `${deps.miniappUrl}/${bot.botId}` });
  const answer = (outcome: UpdateBotOutcome, botId: string) => {
    if (outcome.outcome === "unknown-bot") throw unknownBot(botId);
    return shown(outcome.bot);
  };

  scope.post("/bots", { schema: botOperations.add }, async (request, reply) => {
    const { botId, ...settings } = request.body;
    checkAddresses(settings, deps.isPlainHttpAllowed);
    requireConfirmation(await blockEffects(database, settings), { isConfirmed: request.query.confirmed });
    const added = await addBot(deps, { botId, settings: givenFields(settings), now: now() });
    if (added.outcome === "bot-exists") {
      throw conflict("BOT_EXISTS", `bot ${botId} exists already; see it with: bots show ${botId}`);
    }
    return reply.code(201).send({ ...shown(added.bot), tokenId: added.entry.tokenId, token: added.token });
  });

  scope.get("/bots", { schema: botOperations.list }, async () => ({ bots: (await listBots(database)).map(shown) }));

  scope.get("/bots/:botId", { schema: botOperations.show }, async (request) => {
    const { botId } = request.params;
    const bot = await readBot(database, botId);
    if (!bot) throw unknownBot(botId);
    return { ...shown(bot), tokens: await readTokens(database, { botId, now: now() }) };
  });

  scope.patch("/bots/:botId", { schema: botOperations.update }, async (request) => {
    const { botId } = request.params;
    const settings = request.body;
    checkAddresses(settings, deps.isPlainHttpAllowed);
    requireConfirmation(await blockEffects(database, settings), { isConfirmed: request.query.confirmed });
    return answer(await updateBot(bots, { botId, settings: givenFields(settings), now: now() }), botId);
  });

  scope.post("/bots/:botId/suspend", { schema: botOperations.suspend }, async (request) => {
    const { botId } = request.params;
    return answer(await suspendBot(bots, { botId, now: now() }), botId);
  });

  scope.post("/bots/:botId/resume", { schema: botOperations.resume }, async (request) => {
    const { botId } = request.params;
    return answer(await resumeBot(bots, { botId, now: now() }), botId);
  });
}

/** A mistyped name blocks no advertiser. It is no error, because an advertiser may be blocked before its first campaign. */
async function blockEffects(
  database: Database,
  { blockedAdvertisers = [] }: { blockedAdvertisers?: string[] | undefined },
): Promise<ConfirmableEffect[]> {
  if (blockedAdvertisers.length === 0) return [];
  const unknown = await unknownAdvertisers(database, blockedAdvertisers);
  return unknown.map(({ name, similar }) => {
    const advice = similar === undefined ? "see all with: advertisers list" : `there is "${similar}"`;
    const message = `there is no advertiser "${name}", so this blocks nobody until one has that name; ${advice}`;
    return { field: "blockedAdvertisers", message };
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

export function tokenOperatorRoutes(scope: CheckedScope, deps: BotOperatorDeps): void {
  const { database, apiTokens, now } = deps;

  scope.post("/bots/:botId/tokens", { schema: tokenOperations.create }, async (request, reply) => {
    const { botId } = request.params;
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

  scope.post("/bots/:botId/tokens/:tokenId/activate", { schema: tokenOperations.activate }, async (request) => {
    const id = request.params;
    await requireBots(database, [id.botId]);
    const activated = await activateToken(apiTokens, { ...id, now: now() });
    if (activated.outcome === "unknown-token") throw unknownToken(id);
    if (activated.outcome === "not-next") {
      throw conflict("TOKEN_NOT_NEXT", `${id.tokenId} is ${activated.state}; only the next token can be activated`);
    }
    return { ...id, state: "active" as const, retiring: activated.retiring };
  });

  scope.post("/bots/:botId/tokens/:tokenId/revoke", { schema: tokenOperations.revoke }, async (request) => {
    const id = request.params;
    await requireBots(database, [id.botId]);
    const revoked = await revokeToken(apiTokens, { ...id, now: now() });
    if (revoked.outcome === "unknown-token") throw unknownToken(id);
    if (revoked.outcome === "already-revoked") throw conflict("TOKEN_REVOKED", `${id.tokenId} is revoked already`);
    return { ...id, state: "revoked" as const, activatedTokenId: revoked.activatedTokenId, isLast: revoked.isLast };
  });
}

function unknownToken({ botId, tokenId }: { botId: string; tokenId: string }) {
  return notFound(`bot ${botId} has no token ${tokenId}; see its tokens with: bots show ${botId}`);
}
