import type { AdDatabase } from "../ad-database.ts";
import { forgetTokens } from "./authenticate-bot.ts";
import { lockBot, readTokens, setTokenState } from "./token-rows.ts";

export type RevokeTokenOutcome =
  /** `activatedTokenId` replaced it; once the last token is revoked, the bot's events are held. */
  | { outcome: "revoked"; activatedTokenId: string | null; isLast: boolean }
  | { outcome: "unknown-token" }
  | { outcome: "already-revoked" };

/**
 * The token stops working: immediately on this node, within a second on others. If it was the active one, the next
 * token becomes active, since events must be signed.
 */
export async function revokeToken(
  database: AdDatabase,
  { botId, tokenId, now }: { botId: string; tokenId: string; now: Date },
): Promise<RevokeTokenOutcome> {
  const outcome = await database.transaction<RevokeTokenOutcome>(async (tx) => {
    await lockBot(tx, botId);
    const tokens = await readTokens(tx, { botId, now });
    const token = tokens.find((one) => one.tokenId === tokenId);
    if (!token) return { outcome: "unknown-token" };
    if (token.state === "revoked") return { outcome: "already-revoked" };
    await setTokenState(tx, { botId, tokenId }, { state: "revoked", revoked_at: now });
    const next = token.state === "active" ? tokens.find(({ state }) => state === "next") : undefined;
    if (next) await setTokenState(tx, { botId, tokenId: next.tokenId }, { state: "active", activated_at: now });
    const isLast = !tokens.some((other) => other !== token && other.state !== "revoked");
    return { outcome: "revoked", activatedTokenId: next?.tokenId ?? null, isLast };
  });
  forgetTokens(database);
  return outcome;
}
