import { statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { AdDatabase } from "../ad-database.ts";

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
