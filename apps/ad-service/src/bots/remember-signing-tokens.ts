import type { AdDatabase } from "../ad-database.ts";
import type { SecretBox } from "./secret-box.ts";
import { type SigningTokens, signingTokens } from "./signing-tokens.ts";

const MAX_AGE_MS = 1000;
const MOST_KEPT = 10_000;

/** Signing tokens, at most a second old: one query loads those of many bots, and a busy bot's once a second. */
export function rememberSigningTokens(deps: { database: AdDatabase; secretBox: SecretBox }) {
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
