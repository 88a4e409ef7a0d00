import { type Database, statement } from "@intermission/postgres/open-database";
import type { SecretBox } from "@intermission/server/secret-box";

export interface SigningTokens {
  /** Signs `X-Signature`. */
  active: string;
  /** Each signs `webhook-signature`: the active token first, then the next, then the retiring ones. */
  all: string[];
}

// If only retiring tokens are left, the newest of them is the one that a receiver certainly knows.
const select = statement<{ botId: string; ciphertext: Buffer }>(
  "bots.signing-tokens",
  `select bot_id as "botId", ciphertext from bot_tokens
   where bot_id = any ($1::text[]) and (state in ('active', 'next') or state = 'retiring' and revoke_at > $2)
   order by bot_id, state = 'active' desc, state = 'retiring', activated_at desc`,
);

/** The tokens that sign webhooks now, by bot. A bot without tokens is missing, and its events are held. */
export async function signingTokens(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { botIds, now }: { botIds: readonly string[]; now: Date },
): Promise<ReadonlyMap<string, SigningTokens>> {
  const tokens = new Map<string, SigningTokens>();
  for (const { botId, ciphertext } of await database.run(select, [botIds, now])) {
    const token = secretBox.open(ciphertext, botId);
    const known = tokens.get(botId);
    if (known) known.all.push(token);
    else tokens.set(botId, { active: token, all: [token] });
  }
  return tokens;
}

const MAX_AGE_MS = 1000;
const MOST_KEPT = 10_000;

/** Signing tokens, at most a second old: one query loads those of many bots, and a busy bot's once a second. */
export function rememberSigningTokens(deps: { database: Database; secretBox: SecretBox }) {
  const kept = new Map<string, { tokens: SigningTokens | undefined; readAt: number }>();
  return async (botIds: readonly string[]): Promise<ReadonlyMap<string, SigningTokens>> => {
    const now = performance.now();
    const isStale = (botId: string) => now - (kept.get(botId)?.readAt ?? Number.NEGATIVE_INFINITY) >= MAX_AGE_MS;
    const stale = [...new Set(botIds)].filter(isStale);
    if (stale.length > 0) {
      const read = await signingTokens(deps, { botIds: stale, now: new Date() });
      if (kept.size > MOST_KEPT) kept.clear();
      for (const botId of stale) kept.set(botId, { tokens: read.get(botId), readAt: now });
    }
    const tokens = new Map<string, SigningTokens>();
    for (const botId of botIds) {
      const known = kept.get(botId)?.tokens;
      if (known) tokens.set(botId, known);
    }
    return tokens;
  };
}
