import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import type { SecretBox } from "./secret-box.ts";

export interface SigningTokens {
  /** Signs `X-Signature`. */
  active: string;
  /** Each signs `webhook-signature`: the active one first, then the next, then those that retire. */
  all: string[];
}

// Where only retiring tokens are left, the newest of them is the one that a receiver surely knows.
const select = statement<{ ciphertext: Buffer }>(
  "bots.signing-tokens",
  `select ciphertext from bot_tokens
   where bot_id = $1 and (state in ('active', 'next') or state = 'retiring' and revoke_at > $2)
   order by state = 'active' desc, state = 'retiring', activated_at desc`,
);

/** The tokens that sign a bot's webhooks now; without any, its events are held. */
export async function signingTokens(
  { database, secretBox }: { database: AdDatabase; secretBox: SecretBox },
  { botId, now }: { botId: string; now: Date },
): Promise<SigningTokens | undefined> {
  const rows = await database.run(select, [botId, now]);
  const all = rows.map(({ ciphertext }) => secretBox.open(ciphertext, botId));
  const [active] = all;
  return active === undefined ? undefined : { active, all };
}
