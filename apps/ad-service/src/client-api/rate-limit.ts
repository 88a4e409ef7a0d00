export interface RateLimit {
  /** Named in the headers. */
  readonly name: string;
  /** At most so many at once … */
  readonly quota: number;
  /** … and as many again in each such window: `quota / windowSeconds` flow in a second. */
  readonly windowSeconds: number;
}

export interface RateVerdict {
  isAllowed: boolean;
  remaining: number;
  /** Until one more is allowed than now, at least 1. */
  waitSeconds: number;
}

export interface RateLimiter {
  readonly limit: RateLimit;
  take(key: string, nowMs: number): RateVerdict;
}

/**
 * A token bucket for each key, in the memory of this node: with n nodes behind a balancer a client may reach n times the
 * limit. It holds the `mostKeys` keys that were used last; one that was pushed out starts anew with a full bucket.
 */
export function rateLimiter(limit: RateLimit, mostKeys = 100_000): RateLimiter {
  const perMs = limit.quota / (limit.windowSeconds * 1000);
  const buckets = new Map<string, { level: number; atMs: number }>();

  return {
    limit,
    take(key, nowMs) {
      const bucket = buckets.get(key) ?? { level: limit.quota, atMs: nowMs };
      bucket.level = Math.min(limit.quota, bucket.level + Math.max(0, nowMs - bucket.atMs) * perMs);
      bucket.atMs = Math.max(bucket.atMs, nowMs);
      const isAllowed = bucket.level >= 1;
      if (isAllowed) bucket.level -= 1;
      buckets.delete(key);
      buckets.set(key, bucket);
      if (buckets.size > mostKeys) buckets.delete(buckets.keys().next().value ?? key);
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
