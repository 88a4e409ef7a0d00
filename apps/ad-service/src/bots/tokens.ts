import { randomBytes } from "node:crypto";
import bs58 from "bs58";
import type { Selectable } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { forgetTokens, lookupHashOf, newApiToken } from "./authenticate-client.ts";
import type { BotTables, TokenState } from "./schema.ts";
import type { SecretBox } from "./secret-box.ts";

/** What may be shown of a token after its creation. */
export interface TokenEntry {
  tokenId: string;
  state: TokenState;
  createdAt: Date;
  activatedAt: Date | null;
  /** A retiring token authenticates and signs until then. */
  revokeAt: Date | null;
  revokedAt: Date | null;
}

/** Serializes changes of a bot's tokens. Returns false if there is no such bot. */
export async function lockBot(tx: AdTransaction, botId: string): Promise<boolean> {
  const query = tx.query.selectFrom("bots").select("bot_id").where("bot_id", "=", botId).forUpdate();
  return (await query.executeTakeFirst()) !== undefined;
}

/** Newest first. A retiring token whose time has passed is listed as revoked. */
export async function readTokens(
  database: AdDatabase | AdTransaction,
  { botId, now }: { botId: string; now: Date },
): Promise<TokenEntry[]> {
  const query = database.query.selectFrom("bot_tokens").selectAll().where("bot_id", "=", botId);
  const rows = await query.orderBy("created_at", "desc").orderBy("token_id").execute();
  return rows.map((row) => tokenEntryOf(row, now));
}

export async function setTokenState(
  tx: AdTransaction,
  id: { botId: string; tokenId: string },
  change: { state: TokenState; activated_at?: Date; revoke_at?: Date; revoked_at?: Date },
): Promise<void> {
  const query = tx.query.updateTable("bot_tokens").set(change);
  await query.where("bot_id", "=", id.botId).where("token_id", "=", id.tokenId).execute();
}

function tokenEntryOf(row: Selectable<BotTables["bot_tokens"]>, now: Date): TokenEntry {
  const isOver = row.state === "retiring" && row.revoke_at !== null && row.revoke_at <= now;
  return {
    tokenId: row.token_id,
    state: isOver ? "revoked" : row.state,
    createdAt: row.created_at,
    activatedAt: row.activated_at,
    revokeAt: row.revoke_at,
    revokedAt: isOver ? row.revoke_at : row.revoked_at,
  };
}

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
