import { createHmac, timingSafeEqual } from "node:crypto";
import { CONTINUATION_MAX_AGE_SECONDS, verifyInitDataWithBotToken } from "@intermission/ad-core/telegram-init-data";
import { addressNetwork } from "@intermission/server/client-address";
import { type RateVerdict, rateLimiter } from "@intermission/server/rate-limiter";
import type { SignInOutcome } from "../verbs.ts";

/** Long enough for an ad and its reward, short enough for a token that cannot be revoked. */
const SESSION_LIFETIME_SECONDS = 6 * 3600;

/**
 * `{user id}.{expiry, unix seconds}.{HMAC}`: nothing is stored, every node can verify it. Callers get it behind the bot's
 * id, which selects the key.
 */
export function issueSessionToken(key: Buffer, userId: string, expiresAtSeconds: number): string {
  const claim = `${userId}.${expiresAtSeconds}`;
  return `${claim}.${macOf(key, claim).toString("base64url")}`;
}

/** The user of an unexpired token, or null. Never throws. */
export function readSessionToken(key: Buffer, token: string, now: Date): string | null {
  const [, claim, userId, expiresAt, mac] = /^(([1-9]\d{0,19})\.(\d{1,12}))\.([\w-]{43})$/.exec(token) ?? [];
  if (!claim || !userId || !expiresAt || !mac) return null;
  if (!timingSafeEqual(macOf(key, claim), Buffer.from(mac, "base64url"))) return null;
  return Number(expiresAt) * 1000 > now.getTime() ? userId : null;
}

function macOf(key: Buffer, claim: string): Buffer {
  return createHmac("sha256", key).update(claim).digest();
}

export interface SignInLimits {
  /** Shared by all users of an address, such as those of a mobile network. */
  perAddress: number;
  perUser: number;
}

/** Per minute. */
export const defaultSignInLimits: SignInLimits = { perAddress: 600, perUser: 30 };

export interface SignInLimiter {
  /** Counts one sign-in; returns the seconds to wait, 0 if it is within the limit. */
  takeAddress(address: string, nowMs: number): number;
  /** A user of a bot: another bot must not use up a user's sign-ins. */
  takeUser(userId: string, nowMs: number): number;
}

/** In the memory of this node. A whole minute's sign-ins may come at once; then one after another as the minute passes. */
export function limitSignIns({ perAddress, perUser }: SignInLimits = defaultSignInLimits): SignInLimiter {
  const ofAddress = rateLimiter({ quota: perAddress, windowSeconds: 60 });
  const ofUser = rateLimiter({ quota: perUser, windowSeconds: 60 });
  return {
    takeAddress: (address, nowMs) => waitOf(ofAddress.take(addressNetwork(address), nowMs)),
    takeUser: (userId, nowMs) => waitOf(ofUser.take(userId, nowMs)),
  };
}

const waitOf = ({ isAllowed, waitSeconds }: RateVerdict) => (isAllowed ? 0 : waitSeconds);

/**
 * Exchanges Telegram's signed launch data, which is replayable and ages, for a session token of its user. A mini-app
 * that stayed open in the background signs in after its ad, so the data may be a day old. The session only reads what
 * that user earned, and ends at the latest when its launch data is a day old.
 */
export function authenticateTelegramUser(
  { initData, address }: { initData: string; address: string },
  bot: { id: string; telegramBotToken: string; sessionKey: Buffer },
  limiter: SignInLimiter,
  now: Date,
): SignInOutcome | { outcome: "too-many"; waitSeconds: number } {
  const waitOfAddress = limiter.takeAddress(address, now.getTime());
  if (waitOfAddress > 0) return { outcome: "too-many", waitSeconds: waitOfAddress };
  const { telegramBotToken: botToken } = bot;
  const verdict = verifyInitDataWithBotToken({ initData, botToken, now, maxAgeSeconds: CONTINUATION_MAX_AGE_SECONDS });
  if (verdict.outcome !== "valid") {
    return { outcome: "refused", reason: verdict.reason === "stale" ? "expired" : "invalid" };
  }
  const waitOfUser = limiter.takeUser(`${bot.id} ${verdict.user.id}`, now.getTime());
  if (waitOfUser > 0) return { outcome: "too-many", waitSeconds: waitOfUser };
  const dataEndsAtSeconds = Math.floor(verdict.authDate.getTime() / 1000) + CONTINUATION_MAX_AGE_SECONDS;
  const expiresAtSeconds = Math.min(Math.floor(now.getTime() / 1000) + SESSION_LIFETIME_SECONDS, dataEndsAtSeconds);
  return {
    outcome: "signed-in",
    sessionToken: `${bot.id}.${issueSessionToken(bot.sessionKey, verdict.user.id, expiresAtSeconds)}`,
    expiresAt: new Date(expiresAtSeconds * 1000).toISOString(),
    user: { id: verdict.user.id },
  };
}
