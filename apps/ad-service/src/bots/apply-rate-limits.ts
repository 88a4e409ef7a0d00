import { HttpError } from "@intermission/server/http-server";
import type { FastifyReply } from "fastify";
import type { Caller } from "./authenticate-request.ts";
import { policyHeader, type RateLimiter, rateLimiter, rateLimitHeader } from "./rate-limit.ts";

export interface RateLimitSettings {
  /** Bursts may use four seconds' worth. */
  perTokenPerSecond: number;
  perUserPerMinute: number;
}

export interface RateLimits {
  /** Counts each authenticated request. */
  countRequest(reply: FastifyReply, caller: Caller): void;
  /** Counts each requested code: limits a user who taps repeatedly, and a bot in a loop. */
  countCode(reply: FastifyReply, caller: Caller, userId: string): void;
}

const BURST_SECONDS = 4;

/** Counts the request, reports what is left in the response headers, and throws 429 when nothing is left. */
export function rateLimits(settings: RateLimitSettings): RateLimits {
  const quota = settings.perTokenPerSecond * BURST_SECONDS;
  const perToken = rateLimiter({ name: "token", quota, windowSeconds: BURST_SECONDS });
  const perUser = rateLimiter({ name: "user", quota: settings.perUserPerMinute, windowSeconds: 60 });
  const policy = policyHeader([perToken.limit, perUser.limit]);
  return {
    countRequest(reply, caller) {
      reply.header("ratelimit-policy", policy);
      take(reply, perToken, caller.tokenId);
    },
    countCode(reply, caller, userId) {
      take(reply, perUser, `${caller.bot.botId} ${userId}`);
    },
  };
}

function take(reply: FastifyReply, limiter: RateLimiter, key: string): void {
  const verdict = limiter.take(key, performance.now());
  const others = reply.getHeader("ratelimit");
  const own = rateLimitHeader(limiter.limit, verdict);
  reply.header("ratelimit", others === undefined ? own : `${others}, ${own}`);
  if (verdict.isAllowed) return;
  const message = `too many requests for this ${limiter.limit.name}; retry in ${verdict.waitSeconds} s`;
  throw new HttpError(429, "TOO_MANY_REQUESTS", message, { headers: { "retry-after": String(verdict.waitSeconds) } });
}
