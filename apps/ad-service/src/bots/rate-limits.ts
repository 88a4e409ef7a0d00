import { HttpError } from "@intermission/server/http-server";
import { type RateLimit, type RateLimiter, type RateVerdict, rateLimiter } from "@intermission/server/rate-limiter";
import type { FastifyReply } from "fastify";
import type { Caller } from "./authenticate-client.ts";

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
  const verdict = limiter.take(key, performance.now());
  const others = reply.getHeader("ratelimit");
  const own = rateLimitHeader(limit, verdict);
  reply.header("ratelimit", others === undefined ? own : `${others}, ${own}`);
  if (verdict.isAllowed) return;
  const message = `too many requests for this ${limit.name}; retry in ${verdict.waitSeconds} s`;
  throw new HttpError(429, "TOO_MANY_REQUESTS", message, { headers: { "retry-after": String(verdict.waitSeconds) } });
}
