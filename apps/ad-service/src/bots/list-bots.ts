import type { AdDatabase } from "../ad-database.ts";
import { type Bot, botOf } from "./rows.ts";

/** Oldest first. */
export async function listBots(database: AdDatabase): Promise<Bot[]> {
  const rows = await database.query.selectFrom("bots").selectAll().orderBy("created_at").orderBy("bot_id").execute();
  return rows.map(botOf);
}
