import { continuationMaxAgeSeconds, verifyInitDataWithBotToken } from "@intermission/ad-core/telegram-init-data";
import type { SignInLimiter } from "./limit-sign-ins.ts";
import type { SignInOutcome } from "./schema.ts";
import { issueSessionToken, sessionLifetimeSeconds } from "./session-token.ts";

/**
 * Exchanges Telegram's signed launch data, which is replayable and ages, for a session token of its user. A mini-app
 * that stayed open in the background signs in after its ad, so the data may be a day old. The session only reads what
 * that user earned, and ends at the latest when its launch data is a day old.
 */
export function authenticateTelegramUser(
  { initData, address }: { initData: string; address: string },
  secrets: { telegramBotToken: string; sessionKey: Buffer },
  limiter: SignInLimiter,
  now: Date,
): SignInOutcome | { outcome: "too-many" } {
  if (!limiter.takeAddress(address, now.getTime())) return { outcome: "too-many" };
  const { telegramBotToken: botToken } = secrets;
  const verdict = verifyInitDataWithBotToken({ initData, botToken, now, maxAgeSeconds: continuationMaxAgeSeconds });
  if (verdict.outcome !== "valid") {
    return { outcome: "refused", reason: verdict.reason === "stale" ? "expired" : "invalid" };
  }
  if (!limiter.takeUser(verdict.user.id, now.getTime())) return { outcome: "too-many" };
  const dataEndsAtSeconds = Math.floor(verdict.authDate.getTime() / 1000) + continuationMaxAgeSeconds;
  const expiresAtSeconds = Math.min(Math.floor(now.getTime() / 1000) + sessionLifetimeSeconds, dataEndsAtSeconds);
  return {
    outcome: "signed-in",
    sessionToken: issueSessionToken(secrets.sessionKey, verdict.user.id, expiresAtSeconds),
    expiresAt: new Date(expiresAtSeconds * 1000).toISOString(),
    user: { id: verdict.user.id },
  };
}
