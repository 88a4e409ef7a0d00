import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Long enough for an ad and its reward, short enough for a token that cannot be revoked. */
export const sessionLifetimeSeconds = 6 * 3600;

const macBytes = 32;

/** The key derives from both secrets, so that replacing either ends every session. */
export function deriveSessionKey(secrets: { telegramBotToken: string; backendApiKey: string; botId: string }): Buffer {
  const material = JSON.stringify([secrets.telegramBotToken, secrets.backendApiKey]);
  return Buffer.from(hkdfSync("sha256", material, secrets.botId, "intermission session token v1", macBytes));
}

/** `{user id}.{expiry, unix seconds}.{HMAC}`: nothing is stored, every node can verify it. */
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
