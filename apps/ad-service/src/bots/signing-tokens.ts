import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { SecretBox } from "./secret-box.ts";

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
  { database, secretBox }: { database: AdDatabase; secretBox: SecretBox },
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
