import type { AdDatabase } from "../ad-database.ts";
import { type BotSettings, settingColumns } from "./bot-settings.ts";
import { forgetBot } from "./find-bot.ts";
import { releaseHeldDeliveries } from "./release-held-deliveries.ts";
import { type Bot, botOf } from "./rows.ts";

export type UpdateBotOutcome = { outcome: "updated"; bot: Bot } | { outcome: "unknown-bot" };

/** Settings that are not given stay. A bot that gets an address is sent what was held for want of one. */
export async function updateBot(
  database: AdDatabase,
  { botId, settings, now }: { botId: string; settings: Partial<BotSettings> & { isSuspended?: boolean }; now: Date },
): Promise<UpdateBotOutcome> {
  const { isSuspended, ...others } = settings;
  const outcome = await database.transaction<UpdateBotOutcome>(async (tx) => {
    const row = await tx.query
      .updateTable("bots")
      .set({
        ...settingColumns(others),
        ...(isSuspended !== undefined && { is_suspended: isSuspended }),
        updated_at: now,
      })
      .where("bot_id", "=", botId)
      .returningAll()
      .executeTakeFirst();
    if (!row) return { outcome: "unknown-bot" };
    if (settings.webhookUrl) await releaseHeldDeliveries(tx, botId);
    return { outcome: "updated", bot: botOf(row) };
  });
  forgetBot(database, botId);
  return outcome;
}

/** Its codes earn nothing and its publisher is answered 403; what was earned before is still delivered. */
export function suspendBot(database: AdDatabase, { botId, now }: { botId: string; now: Date }) {
  return updateBot(database, { botId, settings: { isSuspended: true }, now });
}

export function resumeBot(database: AdDatabase, { botId, now }: { botId: string; now: Date }) {
  return updateBot(database, { botId, settings: { isSuspended: false }, now });
}
