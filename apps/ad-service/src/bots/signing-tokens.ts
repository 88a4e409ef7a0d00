import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { type Database, statement } from "@intermission/postgres/open-database";

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts secrets that must be readable again, with a key that is not in the database. */
export interface SecretBox {
  seal(secret: string, owner: string): Buffer;
  /** Throws if the key, the owner or a single bit differs. */
  open(sealed: Buffer, owner: string): string;
}

/**
 * AES-256-GCM with a key of 32 bytes, as `version ‖ nonce ‖ tag ‖ ciphertext`. The owner (a bot's id) is authenticated,
 * so that a row copied to another bot does not open there.
 */
export function secretBox(key: Uint8Array): SecretBox {
  if (key.byteLength !== 32) throw new Error(`the key has ${key.byteLength} bytes; 32 are required`);
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner));
      const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
    },
    open(sealed, owner) {
      if (sealed[0] !== VERSION || sealed.byteLength < 1 + NONCE_BYTES + TAG_BYTES) {
        throw new Error("a sealed secret has a format that this version does not support");
      }
      const nonce = sealed.subarray(1, 1 + NONCE_BYTES);
      const tag = sealed.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(Buffer.from(owner)).setAuthTag(tag);
      const ciphertext = sealed.subarray(1 + NONCE_BYTES + TAG_BYTES);
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new Error("a stored token cannot be decrypted: ENCRYPTION_KEY is not the key it was encrypted with", {
          cause,
        });
      }
    },
  };
}

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
