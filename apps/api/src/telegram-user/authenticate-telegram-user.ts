import { verifyInitDataWithBotToken } from "@intermission/ad-core/telegram-init-data";
import type { SignInLimiter } from "./limit-sign-ins.ts";
import type { SignInOutcome } from "./schema.ts";
import { issueSessionToken, sessionLifetimeSeconds } from "./session-token.ts";

/** Exchanges Telegram's signed launch data, which is replayable and ages, for a session token of the user it names. */
export function authenticateTelegramUser(
  { initData, address }: { initData: string; address: string },
  secrets: { telegramBotToken: string; sessionKey: Buffer },
  limiter: SignInLimiter,
  now: Date,
): SignInOutcome | { outcome: "too-many" } {
  if (!limiter.takeAddress(address, now.getTime())) return { outcome: "too-many" };
  const verdict = verifyInitDataWithBotToken({ initData, botToken: secrets.telegramBotToken, now });
  if (verdict.outcome !== "valid") {
    return { outcome: "refused", reason: verdict.reason === "stale" ? "expired" : "invalid" };
  }
  if (!limiter.takeUser(verdict.user.id, now.getTime())) return { outcome: "too-many" };
  const expiresAtSeconds = Math.floor(now.getTime() / 1000) + sessionLifetimeSeconds;
  return {
    outcome: "signed-in",
    sessionToken: issueSessionToken(secrets.sessionKey, verdict.user.id, expiresAtSeconds),
    expiresAt: new Date(expiresAtSeconds * 1000).toISOString(),
    user: { id: verdict.user.id },
  };
}
