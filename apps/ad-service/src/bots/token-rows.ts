import type { Selectable } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import type { BotTables, TokenState } from "./schema.ts";

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
