import { statement } from "@intermission/postgres/open-database";
import type { AdDatabase } from "../ad-database.ts";
import { unknownBot, unknownCampaign, unknownCreative } from "./refuse.ts";

const knownBots = statement<{ id: string }>(
  "operator.known-bots",
  "select bot_id as id from bots where bot_id = any($1)",
);
const knownCampaign = statement<{ id: string }>(
  "operator.known-campaign",
  "select campaign_id as id from campaigns where campaign_id = $1",
);
const knownCreative = statement<{ id: string }>(
  "operator.known-creative",
  "select creative_id as id from creatives where creative_id = $1",
);

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

export async function requireCampaign(database: AdDatabase, campaignId: string | undefined): Promise<void> {
  if (campaignId === undefined) return;
  if ((await database.run(knownCampaign, [campaignId])).length === 0) throw unknownCampaign(campaignId);
}

export async function requireCreative(database: AdDatabase, creativeId: string | undefined): Promise<void> {
  if (creativeId === undefined) return;
  if ((await database.run(knownCreative, [creativeId])).length === 0) throw unknownCreative(creativeId);
}
