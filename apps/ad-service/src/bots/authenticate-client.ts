import { hash, randomBytes } from "node:crypto";
import type { Bot } from "@intermission/operator-api/bots";
import { statement } from "@intermission/postgres/open-database";
import { type BearerFault, bearerFaultOf } from "@intermission/server/bearer-fault";
import { type BriefCache, briefCache } from "@intermission/server/brief-cache";
import { countingFor } from "@intermission/server/counted-calls";
import { HttpError } from "@intermission/server/http-server";
import { type RateLimit, type RateLimiter, type RateVerdict, rateLimiter } from "@intermission/server/rate-limiter";
import bs58 from "bs58";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Bots, findBot } from "./bots.ts";
import { noteTokenUse, openTokenUses, type TokenUses } from "./token-uses.ts";

const tokenPattern = /^ad_[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Creates an API token of a bot: it authenticates the publisher's requests and signs what is sent to them. */
export function newApiToken(): string {
  return `ad_${bs58.encode(randomBytes(32))}`;
}

/** Saves a database lookup for text that cannot be a token. */
function isApiToken(text: string): boolean {
  return tokenPattern.test(text);
}

/**
 * A token has 256 random bits, so a plain hash cannot be reversed, and the duration of a lookup by it reveals nothing.
 */
export function lookupHashOf(token: string): Buffer {
  return hash("sha256", token, "buffer");
}

type AuthenticateBotOutcome =
  | { outcome: "authenticated"; bot: Bot; tokenId: string }
  | { outcome: "missing" }
  | { outcome: "malformed" }
  | { outcome: "unknown" }
  | { outcome: "suspended"; bot: Bot };

interface UsableToken {
  botId: string;
  tokenId: string;
  revokeAt: Date | null;
}

const select = statement<UsableToken>(
  "bots.token-by-hash",
  `select bot_id as "botId", token_id as "tokenId", case when state = 'retiring' then revoke_at end as "revokeAt"
   from bot_tokens where lookup_hash = $1 and state <> 'revoked'`,
);

/** The API tokens of bots, with those that this node remembers, by their hash. */
export interface ApiTokens {
  readonly bots: Bots;
  readonly cache: BriefCache<UsableToken>;
  readonly uses: TokenUses;
}

export function openApiTokens(bots: Bots): ApiTokens {
  const load = async (hash: string) => (await bots.database.run(select, [Buffer.from(hash, "base64url")]))[0];
  const cache = briefCache<UsableToken>({ load, maxAgeMs: 1000, maxEntries: 10_000 });
  return { bots, cache, uses: openTokenUses() };
}

/** Identifies the calling bot by the `Authorization` header. */
export async function authenticateBot(
  { bots, cache, uses }: ApiTokens,
  { authorization, now }: { authorization: string | undefined; now: Date },
): Promise<AuthenticateBotOutcome> {
  if (authorization === undefined || authorization === "") return { outcome: "missing" };
  const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  if (!isApiToken(token)) return { outcome: "malformed" };
  const known = await cache.get(lookupHashOf(token).toString("base64url"));
  if (!known || (known.revokeAt && known.revokeAt <= now)) return { outcome: "unknown" };
  const bot = await findBot(bots, known.botId);
  if (!bot) return { outcome: "unknown" };
  noteTokenUse(uses, { botId: known.botId, tokenId: known.tokenId, usedAt: now });
  return bot.isSuspended ? { outcome: "suspended", bot } : { outcome: "authenticated", bot, tokenId: known.tokenId };
}

/** Call after any change of a token: the change then takes effect immediately on this node. */
export function forgetTokens({ cache }: ApiTokens): void {
  cache.clear();
}

interface Caller {
  bot: Bot;
  tokenId: string;
}

type Refusal = Exclude<AuthenticateBotOutcome["outcome"], "authenticated">;

const refusals = {
  missing: () => unauthorized(faultyHeader.missing),
  malformed: (authorization) => unauthorized(faultyHeader[bearerFaultOf(authorization)]),
  unknown: () => unauthorized("the token is unknown or was revoked"),
  suspended: () => new HttpError(403, "BOT_SUSPENDED", "the bot is suspended; ask the operator of this service"),
} satisfies Record<Refusal, (authorization: string) => HttpError>;

const sendBearer = "send: Authorization: Bearer <api_token>";
const faultyHeader = {
  missing: `the Authorization header is missing; ${sendBearer}`,
  "no-scheme": `the Authorization header has a token and no word before it; ${sendBearer}`,
  "other-scheme": `the Authorization header has another scheme than Bearer; ${sendBearer}`,
  "no-token": `the Authorization header has no token: the client's setting is empty; ${sendBearer}`,
  quoted: "the token in the Authorization header is in quotes: remove them from the client's setting",
  "bot-token":
    "the Authorization header has a token of @BotFather; this API takes the bot's API token, which begins with ad_ and which the operator of this service creates",
  several: `the Authorization header has more than one token; ${sendBearer}`,
  "other-form":
    "the Authorization header has no API token of this service, which is ad_ and 32 to 44 letters and digits: copy it anew",
} satisfies Record<BearerFault, string>;

declare module "fastify" {
  interface FastifyRequest {
    /** Set on requests that passed `authenticateRequest`; read it with `callerOf`. */
    caller: Caller | undefined;
  }
}

/** The caller of a request that passed `authenticateRequest`. */
export function callerOf(request: FastifyRequest): Caller {
  const { caller } = request;
  if (!caller) throw new Error(`${request.routeOptions.url} is reached without authentication`);
  return caller;
}

/** Counts of wrong tokens, by who holds the right one. */
interface WrongTokens {
  inc(labels: { setting: "api_token" }): void;
}

/** Throws 401 or 403; each 401 is counted. */
export async function authenticateRequest(
  { apiTokens, wrongTokens }: { apiTokens: ApiTokens; wrongTokens: WrongTokens },
  request: FastifyRequest,
  now: Date,
): Promise<Caller> {
  const outcome = await authenticateBot(apiTokens, { authorization: request.headers.authorization, now });
  if (outcome.outcome !== "authenticated" && outcome.outcome !== "suspended") wrongTokens.inc({ setting: "api_token" });
  if (outcome.outcome !== "authenticated") throw refusals[outcome.outcome](request.headers.authorization ?? "");
  request.caller = { bot: outcome.bot, tokenId: outcome.tokenId };
  return request.caller;
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, "UNAUTHORIZED", message, { headers: { "www-authenticate": "Bearer" } });
}

interface NamedLimit extends RateLimit {
  /** Its name in the headers. */
  readonly name: string;
}

/** `"token";q=200;w=4, "user";q=10;w=60` (draft-ietf-httpapi-ratelimit-headers-10, section 3). */
export function policyHeader(limits: readonly NamedLimit[]): string {
  return limits.map(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`).join(", ");
}

/** `"token";r=199;t=1` (section 4): what is left, and in how many seconds there will be more. */
export function rateLimitHeader(limit: NamedLimit, { remaining, waitSeconds }: RateVerdict): string {
  return `"${limit.name}";r=${remaining};t=${waitSeconds}`;
}

export interface RateLimitSettings {
  /** Bursts may use four seconds' worth. */
  perTokenPerSecond: number;
  perUserPerMinute: number;
}

interface CountedLimit {
  readonly limit: NamedLimit;
  readonly limiter: RateLimiter;
}

export interface RateLimits {
  readonly perToken: CountedLimit;
  readonly perUser: CountedLimit;
  /** The header that names both. */
  readonly policy: string;
}

const BURST_SECONDS = 4;

export function openRateLimits(settings: RateLimitSettings): RateLimits {
  const quota = settings.perTokenPerSecond * BURST_SECONDS;
  const perToken = countedLimit({ name: "token", quota, windowSeconds: BURST_SECONDS });
  const perUser = countedLimit({ name: "user", quota: settings.perUserPerMinute, windowSeconds: 60 });
  return { perToken, perUser, policy: policyHeader([perToken.limit, perUser.limit]) };
}

function countedLimit(limit: NamedLimit): CountedLimit {
  return { limit, limiter: rateLimiter(limit) };
}

/** Counts an authenticated request, reports what is left in the response headers, and throws 429 when nothing is left. */
export function countRequest({ perToken, policy }: RateLimits, reply: FastifyReply, caller: Caller): void {
  reply.header("ratelimit-policy", policy);
  take(reply, perToken, caller.tokenId);
}

/** The same for a requested code: limits a user who taps repeatedly, and a bot in a loop. */
export function countCode({ perUser }: RateLimits, reply: FastifyReply, caller: Caller, userId: string): void {
  take(reply, perUser, `${caller.bot.botId} ${userId}`);
}

function take(reply: FastifyReply, { limit, limiter }: CountedLimit, key: string): void {
  const verdict = countingFor(reply.request)(limiter, key, performance.now());
  const others = reply.getHeader("ratelimit");
  const own = rateLimitHeader(limit, verdict);
  reply.header("ratelimit", others === undefined ? own : `${others}, ${own}`);
  if (verdict.isAllowed) return;
  const message = `too many requests for this ${limit.name}; retry in ${verdict.waitSeconds} s`;
  throw new HttpError(429, "TOO_MANY_REQUESTS", message, { headers: { "retry-after": String(verdict.waitSeconds) } });
}
