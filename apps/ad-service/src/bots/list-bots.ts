import type { AdDatabase } from "../ad-database.ts";
import { type Bot, botOf, selectBots } from "./rows.ts";

/** Oldest first. */
export async function listBots(database: AdDatabase): Promise<Bot[]> {
  const rows = await selectBots(database).orderBy("bots.created_at").orderBy("bots.bot_id").execute();
  return rows.map(botOf);
}
