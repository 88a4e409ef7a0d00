import { randomBytes } from "node:crypto";
import type { TokenEntry } from "@intermission/operator-api/bots";
import { type Author, audit, openChange } from "@intermission/postgres/audit";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import type { SecretBox } from "@intermission/server/secret-box";
import { StartFault } from "@intermission/server/start-fault";
import bs58 from "bs58";
import type { FastifyBaseLogger } from "fastify";
import { type ApiTokens, forgetTokens, lookupHashOf, newApiToken } from "./authenticate-client.ts";

type TokenState = TokenEntry["state"];

const lock = statement<{ botId: string }>(
  "bots.lock",
  `select bot_id as "botId" from bots where bot_id = $1 for update`,
);

/** Serializes changes of a bot's tokens. Returns false if there is no such bot. */
async function lockBot(tx: Transaction, botId: string): Promise<boolean> {
  return (await tx.run(lock, [botId])).length > 0;
}

const list = statement<TokenEntry>(
  "bots.list-tokens",
  `select token_id as "tokenId", state, created_at as "createdAt", activated_at as "activatedAt",
     revoke_at as "revokeAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt"
   from bot_tokens where bot_id = $1 order by created_at desc, token_id`,
);

/** Newest first. A retiring token whose time has passed is listed as revoked. */
export async function readTokens(
  database: Database | Transaction,
  { botId, now }: { botId: string; now: Date },
): Promise<TokenEntry[]> {
  const tokens = await database.run(list, [botId]);
  return tokens.map((token) => {
    const isOver = token.state === "retiring" && token.revokeAt !== null && token.revokeAt <= now;
    return isOver ? { ...token, state: "revoked", revokedAt: token.revokeAt } : token;
  });
}

// A moment that is not given stays as it is: none is ever cleared.
const setState = statement<never>(
  "bots.set-token-state",
  `update bot_tokens set state = $3, activated_at = coalesce($4, activated_at), revoke_at = coalesce($5, revoke_at),
     revoked_at = coalesce($6, revoked_at)
   where bot_id = $1 and token_id = $2`,
);

async function setTokenState(
  tx: Transaction,
  { botId, tokenId }: { botId: string; tokenId: string },
  change: { state: TokenState; activatedAt?: Date; revokeAt?: Date; revokedAt?: Date },
): Promise<void> {
  await tx.run(setState, [botId, tokenId, change.state, change.activatedAt, change.revokeAt, change.revokedAt]);
}

type CreateTokenOutcome =
  /** The token itself is returned only once, here. */
  | { outcome: "created"; entry: TokenEntry; token: string }
  | { outcome: "unknown-bot" }
  | { outcome: "next-exists"; tokenId: string }
  /** A bot of the sample gets none: with one it could earn from real campaigns. */
  | { outcome: "sample" };

const findInSample = statement<never>("bots.find-in-sample", "select from sample where $1 = any (bot_ids)");

/** If there is an active token, the new one is `next`: both authenticate and sign until the new one is activated. */
export async function createToken(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  { botId, author, now }: { botId: string; author?: Author | undefined; now: Date },
): Promise<CreateTokenOutcome> {
  return database.transaction(async (tx) => {
    const change = await openChange(tx, author, botId);
    if (!(await lockBot(tx, botId))) return { outcome: "unknown-bot" };
    if ((await tx.run(findInSample, [botId])).length > 0) return { outcome: "sample" };
    const tokens = await readTokens(tx, { botId, now });
    const next = tokens.find(({ state }) => state === "next");
    if (next) return { outcome: "next-exists", tokenId: next.tokenId };
    const state = tokens.some((token) => token.state === "active") ? "next" : "active";
    const created = await insertToken(tx, secretBox, { botId, state, now });
    await audit(tx, change);
    return { outcome: "created", ...created };
  });
}

const insert = statement<never>(
  "bots.insert-token",
  `insert into bot_tokens (bot_id, token_id, lookup_hash, ciphertext, state, created_at, activated_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

/** Call in a transaction that has locked the bot's row or has just created it. */
export async function insertToken(
  tx: Transaction,
  secretBox: SecretBox,
  { botId, state, now }: { botId: string; state: "next" | "active"; now: Date },
): Promise<{ entry: TokenEntry; token: string }> {
  const token = newApiToken();
  const tokenId = `tok_${bs58.encode(randomBytes(9))}`;
  const activatedAt = state === "active" ? now : null;
  const ciphertext = secretBox.seal(token, botId);
  await tx.run(insert, [botId, tokenId, lookupHashOf(token), ciphertext, state, now, activatedAt]);
  const entry = { tokenId, state, createdAt: now, activatedAt, revokeAt: null, revokedAt: null, lastUsedAt: null };
  return { token, entry };
}

/** Longest time that a replaced token remains valid. */
const RETIREMENT_MS = 7 * 24 * 3600 * 1000;

type ActivateTokenOutcome =
  | { outcome: "activated"; retiring: { tokenId: string; revokeAt: Date; lastUsedAt: Date | null } | null }
  | { outcome: "unknown-token" }
  | { outcome: "not-next"; state: TokenState };

/** From now on this token signs `X-Signature`; the previous one works until it is revoked, seven days at most. */
export async function activateToken(
  apiTokens: ApiTokens,
  { botId, tokenId, author, now }: { botId: string; tokenId: string; author?: Author | undefined; now: Date },
): Promise<ActivateTokenOutcome> {
  const outcome = await apiTokens.bots.database.transaction<ActivateTokenOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    await lockBot(tx, botId);
    const tokens = await readTokens(tx, { botId, now });
    const token = tokens.find((one) => one.tokenId === tokenId);
    if (!token) return { outcome: "unknown-token" };
    if (token.state !== "next") return { outcome: "not-next", state: token.state };
    const active = tokens.find(({ state }) => state === "active");
    const revokeAt = new Date(now.getTime() + RETIREMENT_MS);
    const retiring = active ? { tokenId: active.tokenId, revokeAt, lastUsedAt: active.lastUsedAt } : null;
    if (retiring) {
      const retired = { state: "retiring", revokeAt: retiring.revokeAt } as const;
      await setTokenState(tx, { botId, tokenId: retiring.tokenId }, retired);
    }
    await setTokenState(tx, { botId, tokenId }, { state: "active", activatedAt: now });
    await audit(tx, change);
    return { outcome: "activated", retiring };
  });
  forgetTokens(apiTokens);
  return outcome;
}

type RevokeTokenOutcome =
  /** `activatedTokenId` replaced it; once the last token is revoked, the bot's events are held. */
  | { outcome: "revoked"; activatedTokenId: string | null; isLast: boolean; lastUsedAt: Date | null }
  | { outcome: "unknown-token" }
  | { outcome: "already-revoked" };

/**
 * The token stops working: immediately on this node, within a second on others. If it was the active one, the next
 * token becomes active, since events must be signed.
 */
export async function revokeToken(
  apiTokens: ApiTokens,
  { botId, tokenId, author, now }: { botId: string; tokenId: string; author?: Author | undefined; now: Date },
): Promise<RevokeTokenOutcome> {
  const outcome = await apiTokens.bots.database.transaction<RevokeTokenOutcome>(async (tx) => {
    const change = await openChange(tx, author, botId);
    await lockBot(tx, botId);
    const tokens = await readTokens(tx, { botId, now });
    const token = tokens.find((one) => one.tokenId === tokenId);
    if (!token) return { outcome: "unknown-token" };
    if (token.state === "revoked") return { outcome: "already-revoked" };
    await setTokenState(tx, { botId, tokenId }, { state: "revoked", revokedAt: now });
    const next = token.state === "active" ? tokens.find(({ state }) => state === "next") : undefined;
    if (next) await setTokenState(tx, { botId, tokenId: next.tokenId }, { state: "active", activatedAt: now });
    await audit(tx, change);
    const isLast = !tokens.some((other) => other !== token && other.state !== "revoked");
    return { outcome: "revoked", activatedTokenId: next?.tokenId ?? null, isLast, lastUsedAt: token.lastUsedAt };
  });
  forgetTokens(apiTokens);
  return outcome;
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

const newestTokens = statement<{ botId: string; ciphertext: Buffer }>(
  "bots.newest-tokens",
  `select bot_id as "botId", ciphertext from bot_tokens where state <> 'revoked' order by created_at desc limit 50`,
);

/**
 * Throws a `StartFault` if the key opens none of the stored tokens: nothing could be signed. Tokens that another key sealed
 * beside ones that it opens are logged by bot, since their webhooks are not sent.
 */
export async function requireEncryptionKey(
  { database, secretBox }: { database: Database; secretBox: SecretBox },
  log: Pick<FastifyBaseLogger, "error">,
): Promise<void> {
  const stored = await database.run(newestTokens, []);
  const closed = stored.filter(({ botId, ciphertext }) => !isOpened(secretBox, ciphertext, botId));
  if (closed.length === 0) return;
  if (closed.length === stored.length) {
    throw new StartFault(
      "ENCRYPTION_KEY is not the key that the stored tokens of the bots were encrypted with, so that no webhook could be " +
        "signed: set the key that was used before",
    );
  }
  const botIds = [...new Set(closed.map(({ botId }) => botId))];
  log.error(
    { botIds },
    "tokens of these bots were encrypted with another ENCRYPTION_KEY: make new ones, revoke the old",
  );
}

function isOpened(secretBox: SecretBox, ciphertext: Buffer, botId: string): boolean {
  try {
    secretBox.open(ciphertext, botId);
    return true;
  } catch {
    return false;
  }
}

const MAX_AGE_MS = 1000;
const MAX_KEPT = 10_000;

/** The signing tokens that this node remembers, by bot. */
export interface SigningTokenCache {
  readonly database: Database;
  readonly secretBox: SecretBox;
  readonly now: () => Date;
  readonly kept: Map<string, { tokens: SigningTokens | undefined; readAt: number }>;
}

/** Signing tokens, at most a second old: one query loads those of many bots, and a busy bot's once a second. */
export async function cachedSigningTokens(
  cache: SigningTokenCache,
  botIds: readonly string[],
): Promise<ReadonlyMap<string, SigningTokens>> {
  const { kept } = cache;
  const now = performance.now();
  const isStale = (botId: string) => now - (kept.get(botId)?.readAt ?? Number.NEGATIVE_INFINITY) >= MAX_AGE_MS;
  const stale = [...new Set(botIds)].filter(isStale);
  if (stale.length > 0) {
    const read = await signingTokens(cache, { botIds: stale, now: cache.now() });
    if (kept.size > MAX_KEPT) kept.clear();
    for (const botId of stale) kept.set(botId, { tokens: read.get(botId), readAt: now });
  }
  const tokens = new Map<string, SigningTokens>();
  for (const botId of botIds) {
    const known = kept.get(botId)?.tokens;
    if (known) tokens.set(botId, known);
  }
  return tokens;
}
