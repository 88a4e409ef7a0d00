import { randomBytes } from "node:crypto";
import bs58 from "bs58";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { lookupHashOf, newApiToken } from "./api-token.ts";
import type { SecretBox } from "./secret-box.ts";
import { lockBot, readTokens, type TokenEntry } from "./token-rows.ts";

export type CreateTokenOutcome =
  /** The token itself is returned only once, here. */
  | { outcome: "created"; entry: TokenEntry; token: string }
  | { outcome: "unknown-bot" }
  | { outcome: "next-exists"; tokenId: string };

/** If there is an active token, the new one is `next`: both authenticate and sign until the new one is activated. */
export async function createToken(
  { database, secretBox }: { database: AdDatabase; secretBox: SecretBox },
  { botId, now }: { botId: string; now: Date },
): Promise<CreateTokenOutcome> {
  return database.transaction(async (tx) => {
    if (!(await lockBot(tx, botId))) return { outcome: "unknown-bot" };
    const tokens = await readTokens(tx, { botId, now });
    const next = tokens.find(({ state }) => state === "next");
    if (next) return { outcome: "next-exists", tokenId: next.tokenId };
    const state = tokens.some((token) => token.state === "active") ? "next" : "active";
    const created = await insertToken(tx, secretBox, { botId, state, now });
    return { outcome: "created", ...created };
  });
}

/** Call in a transaction that has locked the bot's row or has just created it. */
export async function insertToken(
  tx: AdTransaction,
  secretBox: SecretBox,
  { botId, state, now }: { botId: string; state: "next" | "active"; now: Date },
): Promise<{ entry: TokenEntry; token: string }> {
  const token = newApiToken();
  const tokenId = `tok_${bs58.encode(randomBytes(9))}`;
  const activatedAt = state === "active" ? now : null;
  const row = {
    bot_id: botId,
    token_id: tokenId,
    lookup_hash: lookupHashOf(token),
    ciphertext: secretBox.seal(token, botId),
    state,
    created_at: now,
    activated_at: activatedAt,
  };
  await tx.query.insertInto("bot_tokens").values(row).execute();
  return { token, entry: { tokenId, state, createdAt: now, activatedAt, revokeAt: null, revokedAt: null } };
}
