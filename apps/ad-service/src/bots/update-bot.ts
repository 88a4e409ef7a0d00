import type { AdDatabase } from "../ad-database.ts";
import { type BotSettings, settingColumns } from "./bot-settings.ts";
import { forgetBot } from "./find-bot.ts";
import { type Bot, botOf } from "./rows.ts";

export type UpdateBotOutcome = { outcome: "updated"; bot: Bot } | { outcome: "unknown-bot" };

/** Settings that are not given stay. What was held for want of an address is released by the next sweep of deliveries. */
export async function updateBot(
  database: AdDatabase,
  { botId, settings, now }: { botId: string; settings: Partial<BotSettings> & { isSuspended?: boolean }; now: Date },
): Promise<UpdateBotOutcome> {
  const { isSuspended, ...others } = settings;
  const row = await database.query
    .updateTable("bots")
    .set({
      ...settingColumns(others),
      ...(isSuspended !== undefined && { is_suspended: isSuspended }),
      updated_at: now,
    })
    .where("bot_id", "=", botId)
    .returningAll()
    .executeTakeFirst();
  forgetBot(database, botId);
  return row ? { outcome: "updated", bot: botOf(row) } : { outcome: "unknown-bot" };
}

/** Its codes earn nothing and its publisher is answered 403; what was earned before is still delivered. */
export function suspendBot(database: AdDatabase, { botId, now }: { botId: string; now: Date }) {
  return updateBot(database, { botId, settings: { isSuspended: true }, now });
}

export function resumeBot(database: AdDatabase, { botId, now }: { botId: string; now: Date }) {
  return updateBot(database, { botId, settings: { isSuspended: false }, now });
}
