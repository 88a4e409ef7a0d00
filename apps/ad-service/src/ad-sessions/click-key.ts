import { createHmac, timingSafeEqual } from "node:crypto";
import type { AdSession } from "./rows.ts";

/**
 * Lets whoever holds it count one click of a session, and nothing else: it stands in an address that leaves the app, where
 * the session's token never may. It changes with each opening.
 */
function clickKey({ tokenHash }: Pick<AdSession, "tokenHash">): string {
  return createHmac("sha256", tokenHash).update("click").digest().subarray(0, 16).toString("base64url");
}

export function isClickKey(given: string, session: Pick<AdSession, "tokenHash">): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(clickKey(session))];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

export function clickAddress(publicUrl: string, session: Pick<AdSession, "sessionId" | "tokenHash">): string {
  return `${publicUrl.replace(/\/$/, "")}/player/v1/sessions/${session.sessionId}/click?key=${clickKey(session)}`;
}
