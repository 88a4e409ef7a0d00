import type { AdDatabase } from "../ad-database.ts";
import { type BriefCache, briefCache } from "./brief-cache.ts";
import { type Bot, readBot } from "./rows.ts";

export type { Bot };

const caches = new WeakMap<AdDatabase, BriefCache<Bot>>();

/** The bot as it was at most a second ago; changes made on this node are seen at once. Inside a transaction use `readBot`. */
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
