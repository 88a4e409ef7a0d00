import { isPlainHttp } from "@intermission/ad-core/web-address";
import { tokenRoutes } from "@intermission/operator-api/bot-tokens";
import { type Bot, botRoutes } from "@intermission/operator-api/bots";
import { fieldFault } from "@intermission/operator-api/field-forms";
import { publisherSettings } from "@intermission/operator-api/publisher-settings";
import type { ReportReader } from "@intermission/operator-api/report-figures";
import type { Database } from "@intermission/postgres/open-database";
import { authorOf } from "@intermission/server/author-of";
import type { CheckedScope } from "@intermission/server/checked-routes";
import { definedFields } from "@intermission/server/parse-request";
import {
  type ConfirmableEffect,
  conflict,
  invalidField,
  notFound,
  requireConfirmation,
} from "@intermission/server/refuse";
import type { SecretBox } from "@intermission/server/secret-box";
import { serveOperatorRoutes } from "@intermission/server/serve-operator-routes";
import type { FastifyRequest } from "fastify";
import { unknownAdvertisers } from "../advertisers/similar-advertiser.ts";
import type { Ffmpeg } from "../creatives/ffmpeg.ts";
import type { MediaStorage } from "../creatives/media-storage.ts";
import { refusedFile } from "../creatives/refused-file.ts";
import type { GuardedRequests } from "../outbound/guarded-request.ts";
import type { ApiTokens } from "./authenticate-client.ts";
import { type Bots, readBot, requireBots, unknownBot } from "./bots.ts";
import { addBot, resumeBot, suspendBot, type UpdateBotOutcome, updateBot } from "./change-bot.ts";
import { pinnedScript } from "./kept-scripts.ts";
import { listBots } from "./list-bots.ts";
import { listAppOrigins } from "./script-sightings.ts";
import { removePicture, setPicture } from "./set-picture.ts";
import { activateToken, createToken, readTokens, revokeToken } from "./tokens.ts";

export interface BotOperatorDeps {
  database: Database;
  bots: Bots;
  apiTokens: ApiTokens;
  secretBox: SecretBox;
  media: MediaStorage;
  ffmpeg: Ffmpeg;
  /** Base address of the mini-apps, without a bot's id. */
  miniappUrl: string;
  /** Below it is the script for publishers' own pages. */
  publicUrl: string;
  /** False in production: webhooks and mini-apps then use https only. */
  isPlainHttpAllowed: boolean;
  requests: Pick<GuardedRequests, "isClosed">;
  /** Whose money a caller sees: one of a publisher's people may do less. */
  reportReaderOf(request: FastifyRequest): ReportReader;
  now: () => Date;
}

export function botOperatorRoutes(scope: CheckedScope, deps: BotOperatorDeps): void {
  const { database, bots, now } = deps;
  const shown = (bot: Bot) => ({ ...bot, miniappUrl: `${deps.miniappUrl}/${bot.botId}` });
  const answer = (outcome: UpdateBotOutcome, botId: string) => {
    if (outcome.outcome === "unknown-bot") throw unknownBot(botId);
    if (outcome.outcome === "changed-since")
      throw conflict("BOT_CHANGED", `bot ${botId} was changed since it was read: read it again`);
    return shown(outcome.bot);
  };

  serveOperatorRoutes(scope, botRoutes, {
    async addBot(request) {
      const { botId, ...settings } = request.body;
      checkAddresses(settings, deps);
      requireConfirmation(await blockEffects(database, settings), { isConfirmed: request.query.confirmed });
      const added = await addBot(deps, {
        botId,
        settings: definedFields(settings),
        author: authorOf(request.http),
        now: now(),
      });
      if (added.outcome === "bot-exists") {
        throw conflict("BOT_EXISTS", `bot ${botId} exists already; see it with: bots show ${botId}`, { botId });
      }
      return { ...shown(added.bot), tokenId: added.entry.tokenId, token: added.token };
    },

    async listBots({ query }) {
      const { rows, next, total } = await listBots(database, query);
      return { bots: rows.map(shown), next, total };
    },

    async showBot(request) {
      const { botId } = request.params;
      const bot = await readBot(database, botId);
      if (!bot) throw unknownBot(botId);
      return { ...shown(bot), tokens: await readTokens(database, { botId, now: now() }) };
    },

    listAppOrigins: ({ params }) => seenOrigins(deps, params.botId),

    async updateBot(request) {
      const { botId } = request.params;
      const { confirmed, expectedUpdatedAt } = request.query;
      const settings = definedFields(request.body);
      const isPublisher = deps.reportReaderOf(request.http) === "publisher";
      if (isPublisher) refuseOperatorSettings(settings);
      checkAddresses(settings, deps);
      // A publisher is not told which advertisers there are.
      if (!isPublisher) requireConfirmation(await blockEffects(database, settings), { isConfirmed: confirmed });
      return answer(
        await updateBot(bots, { botId, settings, expectedUpdatedAt, author: authorOf(request.http), now: now() }),
        botId,
      );
    },

    async suspendBot(request) {
      const { botId } = request.params;
      return answer(await suspendBot(bots, { botId, author: authorOf(request.http), now: now() }), botId);
    },

    async resumeBot(request) {
      const { botId } = request.params;
      return answer(await resumeBot(bots, { botId, author: authorOf(request.http), now: now() }), botId);
    },

    async setBotPicture({ params, query: { name }, body: bytes, http }) {
      const set = await setPicture(deps, { ...params, bytes, name, author: authorOf(http), now: now() });
      if (set.outcome === "unknown-bot") throw unknownBot(params.botId);
      if (set.outcome === "refused") throw refusedFile(set.faults);
      return shown(set.bot);
    },

    async removeBotPicture({ params, http }) {
      const removed = await removePicture(bots, { ...params, author: authorOf(http), now: now() });
      if (removed.outcome === "unknown-bot") throw unknownBot(params.botId);
      return shown(removed.bot);
    },
  });
}

function refuseOperatorSettings(settings: object): void {
  const own: readonly string[] = publisherSettings;
  const other = Object.keys(settings).find((name) => !own.includes(name));
  if (other !== undefined) throw invalidField(other, "is set by the operator", fieldFault("OPERATOR_ONLY"));
}

async function seenOrigins({ database, publicUrl, now }: BotOperatorDeps, botId: string) {
  const bot = await readBot(database, botId);
  if (!bot) throw unknownBot(botId);
  const pinned = await pinnedScript(database, publicUrl);
  return { scriptUrl: `${publicUrl}/sdk/v1.js`, pinned, origins: await listAppOrigins(database, bot), asOf: now() };
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
    const effect = fieldFault("BLOCKS_NOBODY", { name, similar: similar ?? "" });
    return { field: "blockedAdvertisers", message, effect };
  });
}

function checkAddresses(
  {
    webhookUrl,
    publisherApiUrl,
    appOrigins = [],
  }: { [Name in "webhookUrl" | "publisherApiUrl" | "appOrigins"]?: Bot[Name] | undefined },
  { isPlainHttpAllowed, requests }: Pick<BotOperatorDeps, "isPlainHttpAllowed" | "requests">,
): void {
  const called = Object.entries({ webhookUrl, publisherApiUrl });
  for (const [field, address] of [...called, ...appOrigins.map((origin) => ["appOrigins", origin] as const)]) {
    if (address && isPlainHttp(address) && !isPlainHttpAllowed) {
      throw invalidField(field, "must begin with https:// in production", fieldFault("ADDRESS_NEEDS_HTTPS"));
    }
  }
  if (webhookUrl && !isPlainHttpAllowed && requests.isClosed("webhook", webhookUrl)) {
    const message = "is not a public address: nothing is sent to it, unless WEBHOOK_ALLOWED_NETWORKS has its network";
    throw invalidField("webhookUrl", message, fieldFault("ADDRESS_NOT_PUBLIC"));
  }
}

type TokenOperatorDeps = Pick<BotOperatorDeps, "database" | "apiTokens" | "secretBox" | "now">;

export function tokenOperatorRoutes(scope: CheckedScope, deps: TokenOperatorDeps): void {
  const { database, apiTokens, now } = deps;

  serveOperatorRoutes(scope, tokenRoutes, {
    async createToken(request) {
      const { botId } = request.params;
      const created = await createToken(deps, { botId, author: authorOf(request.http), now: now() });
      if (created.outcome === "unknown-bot") throw unknownBot(botId);
      if (created.outcome === "sample")
        throw conflict(
          "SAMPLE",
          `${botId} is a bot of the sample, which gets no token; add a bot of your own: bots add`,
        );
      if (created.outcome === "next-exists") {
        const next = created.tokenId;
        throw conflict(
          "NEXT_TOKEN_EXISTS",
          `${next} is waiting to be activated; activate or revoke it before making another`,
          { tokenId: next },
        );
      }
      return { botId, ...created.entry, token: created.token };
    },

    async activateToken(request) {
      const id = request.params;
      await requireBots(database, [id.botId]);
      const activated = await activateToken(apiTokens, { ...id, author: authorOf(request.http), now: now() });
      if (activated.outcome === "unknown-token") throw unknownToken(id);
      if (activated.outcome === "not-next") {
        throw conflict("TOKEN_NOT_NEXT", `${id.tokenId} is ${activated.state}; only the next token can be activated`, {
          state: activated.state,
        });
      }
      return { ...id, state: "active" as const, retiring: activated.retiring };
    },

    async revokeToken(request) {
      const id = request.params;
      await requireBots(database, [id.botId]);
      const revoked = await revokeToken(apiTokens, { ...id, author: authorOf(request.http), now: now() });
      if (revoked.outcome === "unknown-token") throw unknownToken(id);
      if (revoked.outcome === "already-revoked") throw conflict("TOKEN_REVOKED", `${id.tokenId} is revoked already`);
      const { activatedTokenId, isLast, lastUsedAt } = revoked;
      return { ...id, state: "revoked" as const, activatedTokenId, isLast, lastUsedAt };
    },
  });
}

function unknownToken({ botId, tokenId }: { botId: string; tokenId: string }) {
  return notFound(`bot ${botId} has no token ${tokenId}; see its tokens with: bots show ${botId}`);
}
