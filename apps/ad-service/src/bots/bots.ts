import { statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { Selectable } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { type BriefCache, briefCache } from "./brief-cache.ts";
import type { BotTables, DeliveryMode, SuspiciousViews } from "./schema.ts";

export interface Bot {
  botId: string;
  codePrefix: string;
  name: string;
  /** Without the @. */
  username: string | null;
  isSuspended: boolean;
  webhookUrl: string | null;
  publisherApiUrl: string | null;
  deliveryMode: DeliveryMode;
  codeLifetimeSeconds: number;
  cooldownSeconds: number;
  dailyCap: number;
  testers: string[];
  category: string | null;
  timeZone: string;
  blockedCategories: string[];
  blockedAdvertisers: string[];
  suspiciousViews: SuspiciousViews;
  suspiciousClicks: SuspiciousViews;
  createdAt: Date;
  updatedAt: Date;
}

export async function readBot(database: AdDatabase | AdTransaction, botId: string): Promise<Bot | undefined> {
  const row = await selectBots(database).where("bots.bot_id", "=", botId).executeTakeFirst();
  return row && botOf(row);
}

/** Selects bots, each with the address of its endpoint. */
export function selectBots(database: AdDatabase | AdTransaction) {
  return database.query
    .selectFrom("bots")
    .leftJoin("endpoints", "endpoints.bot_id", "bots.bot_id")
    .selectAll("bots")
    .select("endpoints.url as webhook_url");
}

export function botOf(row: Selectable<BotTables["bots"]> & { webhook_url: string | null }): Bot {
  return {
    botId: row.bot_id,
    codePrefix: row.code_prefix,
    name: row.name,
    username: row.username,
    isSuspended: row.is_suspended,
    webhookUrl: row.webhook_url,
    publisherApiUrl: row.publisher_api_url,
    deliveryMode: row.delivery_mode,
    codeLifetimeSeconds: row.code_lifetime_seconds,
    cooldownSeconds: row.cooldown_seconds,
    dailyCap: row.daily_cap,
    testers: row.testers,
    category: row.category,
    timeZone: row.time_zone,
    blockedCategories: row.blocked_categories,
    blockedAdvertisers: row.blocked_advertisers,
    suspiciousViews: row.suspicious_views,
    suspiciousClicks: row.suspicious_clicks,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

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

/** Oldest first. */
export async function listBots(database: AdDatabase): Promise<Bot[]> {
  const rows = await selectBots(database).orderBy("bots.created_at").orderBy("bots.bot_id").execute();
  return rows.map(botOf);
}

const knownBots = statement<{ id: string }>("bots.known", "select bot_id as id from bots where bot_id = any($1)");

/**
 * Refuses an unknown id with 404: an empty list would look as if nothing had happened yet. Undefined ids are skipped.
 */
export async function requireBots(database: AdDatabase, botIds: readonly (string | undefined)[]): Promise<void> {
  const named = botIds.filter((botId) => botId !== undefined);
  if (named.length === 0) return;
  const known = new Set((await database.run(knownBots, [named])).map(({ id }) => id));
  const missing = named.find((botId) => !known.has(botId));
  if (missing !== undefined) throw unknownBot(missing);
}

export function unknownBot(botId: string): HttpError {
  return notFound(`there is no bot ${botId}; see all with: bots list`);
}
