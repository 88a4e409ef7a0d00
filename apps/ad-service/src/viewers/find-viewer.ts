import { sql } from "kysely";
import type { AdTransaction } from "../ad-database.ts";
import type { Viewer } from "./limit-of-viewer.ts";

export async function findViewer(
  database: AdTransaction,
  { botId, userId }: { botId: string; userId: string },
): Promise<Viewer | undefined> {
  const row = await database.query
    .selectFrom("viewers")
    .select([sql<string>`day::text`.as("day"), "earned_today", "last_earned_at"])
    .where("bot_id", "=", botId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row && { day: row.day, earnedToday: row.earned_today, lastEarnedAt: row.last_earned_at };
}
