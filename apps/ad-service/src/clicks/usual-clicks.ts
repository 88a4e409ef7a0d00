import { type Database, statement } from "@intermission/postgres/open-database";
import { type BriefCache, briefCache } from "@intermission/server/brief-cache";
import { utcDay } from "../viewers/limit-of-viewer.ts";

/** The usual clicks of bots, by bot and day, as they were at most a minute ago. */
export type UsualClicks = BriefCache<number, BotDay>;

interface BotDay {
  botId: string;
  day: string;
}

const MAX_AGE_MS = 60_000;
const MAX_BOTS = 10_000;

// Today counts, too: a bot that has just begun grows by the hour.
const readBusiestDay = statement<{ clicks: number }>(
  "clicks.busiest-day",
  `select coalesce(max(clicks), 0)::double precision as clicks from (
     select clicks from stats_bot_sums
     where bot_id = $1 and span = 'day' and starts_at >= $2::date - 7 and starts_at < $2::date + 1
   ) as days`,
);

export function openUsualClicks(database: Database): UsualClicks {
  return briefCache({
    load: async ({ botId, day }) => (await database.run(readBusiestDay, [botId, day]))[0]?.clicks,
    textOf: ({ botId, day }) => `${botId} ${day}`,
    maxAgeMs: MAX_AGE_MS,
    maxEntries: MAX_BOTS,
  });
}

/** Counted clicks of the bot's busiest day in the week before `now`, today included. */
export async function usualClicksOf(usual: UsualClicks, botId: string, now: Date): Promise<number> {
  return (await usual.get({ botId, day: utcDay(now) })) ?? 0;
}
