import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { Counter, type Registry } from "prom-client";
import { addressNetwork } from "./client-address.ts";
import { rateLimiter, slowDown } from "./rate-limiter.ts";
import { refusal } from "./refuse.ts";

/** Checks the bearer token of requests. Throws 401 for a missing or wrong one, and 429 for too many of them from an address. */
export type TokenGuard = (request: FastifyRequest) => void;

export interface TokenGuardOptions {
  token: string;
  /** The setting that holds the token. */
  setting: "OPERATOR_TOKEN" | "METRICS_TOKEN";
  /** Counts wrong tokens. */
  registry?: Registry | undefined;
  /** In milliseconds, of any clock. */
  now?: () => number;
}

const WRONG_TOKENS = { quota: 20, windowSeconds: 60, maxKeys: 10_000 };
const LOG_EVERY_MS = 60_000;

/**
 * The right token is always accepted, so that nobody can lock the operator out by sending wrong ones. Wrong ones are counted
 * (`intermission_wrong_tokens_total`), limited for each address (an IPv6 /64), and logged once a minute with their number.
 */
export function guardToken({ token, setting, registry, now = () => performance.now() }: TokenGuardOptions): TokenGuard {
  const expected = hashOf(token);
  const limiter = rateLimiter(WRONG_TOKENS);
  const count = registry && wrongTokenCounter(registry);
  count?.inc({ setting }, 0);
  let unlogged = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  return (request) => {
    const [, presented = ""] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "") ?? [];
    if (timingSafeEqual(hashOf(presented), expected)) return;
    count?.inc({ setting });
    unlogged += 1;
    if (now() - loggedAt >= LOG_EVERY_MS) {
      const facts = { setting, address: request.ip, wrongTokens: unlogged };
      request.log.warn(facts, "requests with a missing or wrong token were refused; this is logged once a minute");
      loggedAt = now();
      unlogged = 0;
    }
    const { isAllowed, waitSeconds } = limiter.take(addressNetwork(request.ip), now());
    if (!isAllowed) throw slowDown(waitSeconds);
    throw refusal(401, "UNAUTHORIZED", `the token is missing or wrong: send the value of ${setting}`, {
      headers: { "www-authenticate": "Bearer" },
    });
  };
}

const metricName = "intermission_wrong_tokens_total";

/** The metric of all wrong tokens of a process; the tokens of bots, which no setting holds, count as `api_token`. */
export function wrongTokenCounter(registry: Registry): Counter {
  const known = registry.getSingleMetric(metricName);
  if (known instanceof Counter) return known;
  const help = "Requests with a missing or wrong token, by the setting that holds the right one; api_token: of a bot.";
  return new Counter({ name: metricName, help, labelNames: ["setting"], registers: [registry] });
}

/** A hash has one length for any input, so that the comparison takes constant time. */
function hashOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
