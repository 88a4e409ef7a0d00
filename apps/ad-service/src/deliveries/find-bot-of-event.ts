import { statement } from "@intermission/postgres/open-database";
import type { HttpError } from "@intermission/server/http-server";
import { notFound } from "@intermission/server/refuse";
import type { AdDatabase } from "../ad-database.ts";

// One primary key probe for each bot: the key begins with the bot, so a search by event id alone would read the whole table.
const find = statement<{ botId: string }>(
  "deliveries.bot-of-event",
  `select bots.bot_id as "botId" from bots cross join lateral (
    select from deliveries where deliveries.bot_id = bots.bot_id and event_id = $1 offset 0
  ) as delivery
  limit 1`,
);

/** The bot of an event, for an operator who knows only the event's id. */
export async function findBotOfEvent(database: Pick<AdDatabase, "run">, eventId: string): Promise<string | undefined> {
  const [row] = await database.run(find, [eventId]);
  return row?.botId;
}

export function unknownEvent(eventId: string): HttpError {
  return notFound(`there is no event ${eventId}; see the latest with: deliveries list`);
}
