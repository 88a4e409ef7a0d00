import { type Database, statement } from "@intermission/postgres/open-database";
import { type BackgroundLoop, startLoop } from "@intermission/server/background-loop";
import { BoundedCache } from "@intermission/server/bounded-cache";
import type { FastifyBaseLogger } from "fastify";

/** A token that is in use is written once in this time, whatever the number of its requests and of nodes. */
const GRAIN_MS = 60_000;
const EVERY_MS = 5000;
const MAX_TOKENS = 10_000;

interface TokenUse {
  botId: string;
  tokenId: string;
  usedAt: Date;
}

/** What this node knows of the uses of API tokens. */
export interface TokenUses {
  /** The last use that was noted, in milliseconds, by the token's id. */
  readonly noted: BoundedCache<string, number>;
  /** Those that are not stored yet. */
  readonly waiting: Map<string, TokenUse>;
}

export function openTokenUses(): TokenUses {
  return { noted: new BoundedCache(MAX_TOKENS), waiting: new Map() };
}

/** Called for each request: it only notes in memory, and at most once a minute for each token. */
export function noteTokenUse({ noted, waiting }: TokenUses, use: TokenUse): void {
  const usedAt = use.usedAt.getTime();
  const before = noted.get(use.tokenId);
  if (before !== undefined && Math.abs(usedAt - before) < GRAIN_MS) return;
  // During an outage of the database the map is full at some time; what does not fit in is noted once it does.
  if (waiting.size >= MAX_TOKENS && !waiting.has(use.tokenId)) return;
  noted.set(use.tokenId, usedAt);
  waiting.set(use.tokenId, use);
}

// Another node may have stored a use of the same minute. A row that is being changed is not waited for: two nodes lock several
// rows each, in any order.
const store = statement<never>(
  "bots.store-token-uses",
  `with due as (
     select bot_tokens.bot_id, token_id, used_at
     from unnest($1::text[], $2::text[], $3::timestamptz[]) as used (bot_id, token_id, used_at)
     join bot_tokens using (bot_id, token_id)
     where last_used_at is null or last_used_at <= used_at - $4 * interval '1 millisecond'
     for no key update of bot_tokens skip locked)
   update bot_tokens set last_used_at = due.used_at from due
   where bot_tokens.bot_id = due.bot_id and bot_tokens.token_id = due.token_id`,
);

/** Stores the uses that were noted; after a fault they wait for the next round. */
export async function storeTokenUses(database: Pick<Database, "run">, { waiting }: TokenUses): Promise<void> {
  const uses = [...waiting.values()];
  if (uses.length === 0) return;
  waiting.clear();
  const columns = [
    uses.map(({ botId }) => botId),
    uses.map(({ tokenId }) => tokenId),
    uses.map(({ usedAt }) => usedAt),
  ];
  try {
    await database.run(store, [...columns, GRAIN_MS]);
  } catch (error) {
    for (const use of uses) if (!waiting.has(use.tokenId)) waiting.set(use.tokenId, use);
    throw error;
  }
}

/** Stores when tokens were last used, until it is stopped: then what was noted is stored at once. */
export function startStoringTokenUses(deps: {
  database: Pick<Database, "run">;
  uses: TokenUses;
  log: Pick<FastifyBaseLogger, "error">;
}): BackgroundLoop {
  const { database, uses, log } = deps;
  const loop = startLoop({
    everyMs: EVERY_MS,
    firstInMs: EVERY_MS,
    round: async () => {
      await storeTokenUses(database, uses);
      return undefined;
    },
    onFault: (error) => log.error({ err: error }, "the last uses of tokens could not be stored; trying again"),
  });
  return {
    get health() {
      return loop.health;
    },
    async stop() {
      await loop.stop();
      await storeTokenUses(database, uses).catch((error: unknown) => {
        log.error({ err: error }, "the last uses of tokens could not be stored before the stop");
      });
    },
  };
}
