import type { Bot } from "@intermission/operator-api/bots";
import { type Database, statement, type Transaction } from "@intermission/postgres/open-database";
import { type ColumnsOf, selected } from "@intermission/postgres/row-columns";
import { type BriefCache, briefCache } from "@intermission/server/brief-cache";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import { pictureColumns, settingColumns } from "./bot-settings.ts";

export type DeliveryMode = Bot["deliveryMode"];

const columns = {
  botId: "bots.bot_id",
  codePrefix: "code_prefix",
  ...settingColumns,
  ...pictureColumns,
  isSuspended: "is_suspended",
  // The address of a bot's webhooks is that of its endpoint.
  webhookUrl: "endpoints.url",
  createdAt: "created_at",
  updatedAt: "updated_at",
} satisfies ColumnsOf<Bot>;
/** Selects `Bot` from `bots` and `endpoints`. */
export const selectBots = `select ${selected(columns)} from bots left join endpoints on endpoints.bot_id = bots.bot_id`;
const selectOne = statement<Bot>("bots.read", `${selectBots} where bots.bot_id = $1`);

export async function readBot(database: Database | Transaction, botId: string): Promise<Bot | undefined> {
  return (await database.run(selectOne, [botId]))[0];
}

/** The bots of a store, with what this node remembers of them. */
export interface Bots {
  readonly database: Database;
  readonly cache: BriefCache<Bot>;
  /** A code prefix identifies its bot permanently. Unknown prefixes are not cached, so guesses cannot fill the cache. */
  readonly idOfPrefix: Map<string, string>;
}

export function openBots(database: Database): Bots {
  const load = (botId: string) => readBot(database, botId);
  return { database, cache: briefCache<Bot>({ load, maxAgeMs: 1000, maxEntries: 10_000 }), idOfPrefix: new Map() };
}

/**
 * Returns the bot as it was at most a second ago; changes made on this node are visible immediately. Inside a
 * transaction use `readBot`.
 */
export function findBot({ cache }: Bots, botId: string): Promise<Bot | undefined> {
  return cache.get(botId);
}

/** Call after any change of a bot: the change then takes effect immediately on this node. */
export function forgetBot({ cache }: Bots, botId: string): void {
  cache.forget(botId);
}

const selectIdOfPrefix = statement<{ botId: string }>(
  "bots.id-of-prefix",
  `select bot_id as "botId" from bots where code_prefix = $1`,
);

/** Returns the bot whose codes have this prefix, as it was at most a second ago. */
export async function findBotByPrefix(bots: Bots, codePrefix: string): Promise<Bot | undefined> {
  const { database, idOfPrefix } = bots;
  let botId = idOfPrefix.get(codePrefix);
  if (botId === undefined) {
    botId = (await database.run(selectIdOfPrefix, [codePrefix]))[0]?.botId;
    if (botId === undefined) return undefined;
    idOfPrefix.set(codePrefix, botId);
  }
  return findBot(bots, botId);
}

const knownBots = statement<{ id: string }>("bots.known", "select bot_id as id from bots where bot_id = any($1)");

/**
 * Refuses an unknown id with 404: an empty list would look as if nothing had happened yet. Undefined ids are skipped.
 */
export async function requireBots(database: Database, botIds: readonly (string | undefined)[]): Promise<void> {
  const named = botIds.filter((botId) => botId !== undefined);
  if (named.length === 0) return;
  const known = new Set((await database.run(knownBots, [named])).map(({ id }) => id));
  const missing = named.find((botId) => !known.has(botId));
  if (missing !== undefined) throw unknownBot(missing);
}

export function unknownBot(botId: string): HttpError {
  return notFound(`there is no bot ${botId}; see all with: bots list`);
}
