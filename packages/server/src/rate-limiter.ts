import { BoundedCache } from "./bounded-cache.ts";
import { type CountCall, type CountedRequest, countingFor, type RateLimiter } from "./counted-calls.ts";
import type { HttpError } from "./http-server.ts";
import { refusal } from "./refuse.ts";

export type { RateLimiter, RateVerdict } from "./counted-calls.ts";

export interface RateLimit {
  /** Calls allowed in one burst. */
  readonly quota: number;
  /** Length of a window, in which the quota refills: `quota / windowSeconds` per second. */
  readonly windowSeconds: number;
  /** The number of keys remembered at most; 100 000 by default. */
  readonly maxKeys?: number;
}

interface Bucket {
  level: number;
  /** Time of the last access. */
  atMs: number;
}

/**
 * A token bucket for each key, in the memory of this process: with n nodes behind a load balancer a client may reach n
 * times the limit. It protects from floods, and no money. Those of the most recently used keys are kept, half of
 * `maxKeys` at least; an evicted key starts again with a full one.
 */
export function rateLimiter({ quota, windowSeconds, maxKeys = 100_000 }: RateLimit): RateLimiter {
  const perMs = quota / (windowSeconds * 1000);
  const buckets = new BoundedCache<string, Bucket>(maxKeys);

  function bucketOf(key: string, nowMs: number): Bucket {
    const known = buckets.get(key);
    if (known !== undefined) return known;
    const bucket = { level: quota, atMs: nowMs };
    buckets.set(key, bucket);
    return bucket;
  }

  return {
    take(key, nowMs) {
      const bucket = bucketOf(key, nowMs);
      bucket.level = Math.min(quota, bucket.level + Math.max(0, nowMs - bucket.atMs) * perMs);
      bucket.atMs = Math.max(bucket.atMs, nowMs);
      const isAllowed = bucket.level >= 1;
      if (isAllowed) bucket.level -= 1;
      const remaining = Math.floor(bucket.level);
      const missing = Math.min(remaining + 1, quota) - bucket.level;
      return { isAllowed, remaining, waitSeconds: Math.max(1, Math.ceil(missing / perMs / 1000)) };
    },
    giveBack(key) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) bucket.level = Math.min(quota, bucket.level + 1);
    },
  };
}

/** Counts a call, and returns the seconds until it may be repeated; 0 if it is allowed. */
export function secondsToWait(count: CountCall, limiter: RateLimiter, key: string, now: Date): number {
  const { isAllowed, waitSeconds } = count(limiter, key, now.getTime());
  return isAllowed ? 0 : waitSeconds;
}

/** Counts a call of a request, and throws 429 with `Retry-After` if it is one too many. */
export function spend(request: CountedRequest, limiter: RateLimiter, key: string, now: Date): void {
  const seconds = secondsToWait(countingFor(request), limiter, key, now);
  if (seconds > 0) throw slowDown(seconds);
}

export function slowDown(waitSeconds: number): HttpError {
  return refusal(429, "TOO_MANY_REQUESTS", "slow down", { headers: { "retry-after": String(waitSeconds) } });
}
