import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { isApiToken, lookupHashOf } from "./api-token.ts";
import { type BriefCache, briefCache } from "./brief-cache.ts";
import { findBot } from "./find-bot.ts";
import type { Bot } from "./rows.ts";

export type AuthenticateBotOutcome =
  | { outcome: "authenticated"; bot: Bot; tokenId: string }
  | { outcome: "missing" }
  | { outcome: "malformed" }
  | { outcome: "unknown" }
  | { outcome: "suspended"; bot: Bot };

interface UsableToken {
  botId: string;
  tokenId: string;
  revokeAt: Date | null;
}

const select = statement<UsableToken>(
  "bots.token-by-hash",
  `select bot_id as "botId", token_id as "tokenId", case when state = 'retiring' then revoke_at end as "revokeAt"
   from bot_tokens where lookup_hash = $1 and state <> 'revoked'`,
);

const caches = new WeakMap<AdDatabase, BriefCache<UsableToken>>();

/** Identifies the calling bot by the `Authorization` header. */
export async function authenticateBot(
  database: AdDatabase,
  { authorization, now }: { authorization: string | undefined; now: Date },
): Promise<AuthenticateBotOutcome> {
  if (authorization === undefined || authorization === "") return { outcome: "missing" };
  const [, token = ""] = /^Bearer +(\S+)$/i.exec(authorization) ?? [];
  if (!isApiToken(token)) return { outcome: "malformed" };
  const known = await cacheOf(database).get(lookupHashOf(token).toString("base64url"));
  if (!known || (known.revokeAt && known.revokeAt <= now)) return { outcome: "unknown" };
  const bot = await findBot(database, known.botId);
  if (!bot) return { outcome: "unknown" };
  return bot.isSuspended ? { outcome: "suspended", bot } : { outcome: "authenticated", bot, tokenId: known.tokenId };
}

/** Call after any change of a token: the change then takes effect immediately on this node. */
export function forgetTokens(database: AdDatabase): void {
  cacheOf(database).clear();
}

function cacheOf(database: AdDatabase): BriefCache<UsableToken> {
  const known = caches.get(database);
  if (known) return known;
  const load = async (hash: string) => (await database.run(select, [Buffer.from(hash, "base64url")]))[0];
  const cache = briefCache<UsableToken>({ load, maxAgeMs: 1000, maxEntries: 10_000 });
  caches.set(database, cache);
  return cache;
}
