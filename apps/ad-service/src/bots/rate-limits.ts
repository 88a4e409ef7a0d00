import { HttpError } from "@intermission/server/http-server";
import type { FastifyReply } from "fastify";
import type { Caller } from "./authenticate-client.ts";

export interface RateLimit {
  /** Its name in the headers. */
  readonly name: string;
  /** Requests allowed in one burst. */
  readonly quota: number;
  /** Length of a window, in which the quota refills: `quota / windowSeconds` per second. */
  readonly windowSeconds: number;
}

export interface RateVerdict {
  isAllowed: boolean;
  remaining: number;
  /** Seconds until one more request than now is allowed, at least 1. */
  waitSeconds: number;
}

export interface RateLimiter {
  readonly limit: RateLimit;
  take(key: string, nowMs: number): RateVerdict;
}

interface Bucket {
  level: number;
  /** Time of the last access. */
  atMs: number;
}

/**
 * A token bucket for each key, in the memory of this node: with n nodes behind a load balancer a client may reach n
 * times the limit. A bucket that is not used for a whole window is full again, and is dropped. The `leastKeys` most
 * recently used keys are always kept, and never more than twice as many; an evicted key starts again with a full
 * bucket.
 */
export function rateLimiter(limit: RateLimit, leastKeys = 50_000): RateLimiter {
  const windowMs = limit.windowSeconds * 1000;
  const perMs = limit.quota / windowMs;
  // Two generations: a used key moves to the younger one, and the older one is dropped as a whole.
  let young = new Map<string, Bucket>();
  let old = new Map<string, Bucket>();
  let bornAtMs = Number.NEGATIVE_INFINITY;

  function bucketOf(key: string, nowMs: number): Bucket {
    if (nowMs - bornAtMs >= windowMs || young.size >= leastKeys) {
      old = young;
      young = new Map();
      bornAtMs = nowMs;
    }
    let bucket = young.get(key);
    if (bucket) return bucket;
    bucket = old.get(key) ?? { level: limit.quota, atMs: nowMs };
    young.set(key, bucket);
    return bucket;
  }

  return {
    limit,
    take(key, nowMs) {
      const bucket = bucketOf(key, nowMs);
      bucket.level = Math.min(limit.quota, bucket.level + Math.max(0, nowMs - bucket.atMs) * perMs);
      bucket.atMs = Math.max(bucket.atMs, nowMs);
      const isAllowed = bucket.level >= 1;
      if (isAllowed) bucket.level -= 1;
      const remaining = Math.floor(bucket.level);
      const missing = Math.min(remaining + 1, limit.quota) - bucket.level;
      return { isAllowed, remaining, waitSeconds: Math.max(1, Math.ceil(missing / perMs / 1000)) };
    },
  };
}

/** `"token";q=200;w=4, "user";q=10;w=60` (draft-ietf-httpapi-ratelimit-headers-10, section 3). */
export function policyHeader(limits: readonly RateLimit[]): string {
  return limits.map(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`).join(", ");
}

/** `"token";r=199;t=1` (section 4): what is left, and in how many seconds there will be more. */
export function rateLimitHeader(limit: RateLimit, { remaining, waitSeconds }: RateVerdict): string {
  return `"${limit.name}";r=${remaining};t=${waitSeconds}`;
}

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
