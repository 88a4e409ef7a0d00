import type { AdDatabase } from "../ad-database.ts";
import { forgetTokens } from "./authenticate-bot.ts";
import type { TokenState } from "./schema.ts";
import { lockBot, readTokens, setTokenState } from "./token-rows.ts";

/** Longest time that a replaced token remains valid. */
const RETIREMENT_MS = 7 * 24 * 3600 * 1000;

export type ActivateTokenOutcome =
  | { outcome: "activated"; retiring: { tokenId: string; revokeAt: Date } | null }
  | { outcome: "unknown-token" }
  | { outcome: "not-next"; state: TokenState };

/** From now on this token signs `X-Signature`; the previous one works until it is revoked, seven days at most. */
export async function activateToken(
  database: AdDatabase,
  { botId, tokenId, now }: { botId: string; tokenId: string; now: Date },
): Promise<ActivateTokenOutcome> {
  const outcome = await database.transaction<ActivateTokenOutcome>(async (tx) => {
    await lockBot(tx, botId);
    const tokens = await readTokens(tx, { botId, now });
    const token = tokens.find((one) => one.tokenId === tokenId);
    if (!token) return { outcome: "unknown-token" };
    if (token.state !== "next") return { outcome: "not-next", state: token.state };
    const active = tokens.find(({ state }) => state === "active");
    const retiring = active ? { tokenId: active.tokenId, revokeAt: new Date(now.getTime() + RETIREMENT_MS) } : null;
    if (retiring) {
      const change = { state: "retiring", revoke_at: retiring.revokeAt } as const;
      await setTokenState(tx, { botId, tokenId: retiring.tokenId }, change);
    }
    await setTokenState(tx, { botId, tokenId }, { state: "active", activated_at: now });
    return { outcome: "activated", retiring };
  });
  forgetTokens(database);
  return outcome;
}
