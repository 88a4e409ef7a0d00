import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { type BriefCache, briefCache } from "./brief-cache.ts";
import { type Bot, readBot } from "./rows.ts";

export type { Bot };

const caches = new WeakMap<AdDatabase, BriefCache<Bot>>();

/**
 * Returns the bot as it was at most a second ago; changes made on this node are visible immediately. Inside a
 * transaction use `readBot`.
 */
export async function findBot(database: AdDatabase, botId: string): Promise<Bot | undefined> {
  return cacheOf(database).get(botId);
}

export function forgetBot(database: AdDatabase, botId: string): void {
  cacheOf(database).forget(botId);
}

function cacheOf(database: AdDatabase): BriefCache<Bot> {
  const known = caches.get(database);
  if (known) return known;
  const cache = briefCache<Bot>({ load: (botId) => readBot(database, botId), maxAgeMs: 1000, maxEntries: 10_000 });
  caches.set(database, cache);
  return cache;
}

/** A code prefix identifies its bot permanently. Unknown prefixes are not cached, so guesses cannot fill the cache. */
const botIds = new WeakMap<AdDatabase, Map<string, string>>();

const idOfPrefix = statement<{ botId: string }>(
  "bots.id-of-prefix",
  `select bot_id as "botId" from bots where code_prefix = $1`,
);

/** Returns the bot whose codes have this prefix, as it was at most a second ago. */
export async function findBotByPrefix(database: AdDatabase, codePrefix: string): Promise<Bot | undefined> {
  const known = botIds.get(database) ?? new Map<string, string>();
  botIds.set(database, known);
  let botId = known.get(codePrefix);
  if (botId === undefined) {
    botId = (await database.run(idOfPrefix, [codePrefix]))[0]?.botId;
    if (botId === undefined) return undefined;
    known.set(codePrefix, botId);
  }
  return findBot(database, botId);
}
