import type { AdDatabase } from "../ad-database.ts";
import { spellAdvertisers } from "../advertisers/advertiser-names.ts";
import { type BotSettings, settingColumns } from "./bot-settings.ts";
import { forgetBot } from "./find-bot.ts";
import { type Bot, readBot } from "./rows.ts";
import { setEndpoint } from "./set-endpoint.ts";

export type UpdateBotOutcome = { outcome: "updated"; bot: Bot } | { outcome: "unknown-bot" };

/**
 * Settings that are not given stay unchanged. Events held because no address was set are sent once the new one passes
 * its test.
 */
export async function updateBot(
  database: AdDatabase,
  { botId, settings, now }: { botId: string; settings: Partial<BotSettings> & { isSuspended?: boolean }; now: Date },
): Promise<UpdateBotOutcome> {
  const { isSuspended, ...others } = settings;
  const bot = await database.transaction(async (tx) => {
    const { blockedAdvertisers: blocked } = others;
    const changed = await tx.query
      .updateTable("bots")
      .set({
        ...settingColumns(others),
        ...(blocked && { blocked_advertisers: await spellAdvertisers(tx, blocked) }),
        ...(isSuspended !== undefined && { is_suspended: isSuspended }),
        updated_at: now,
      })
      .where("bot_id", "=", botId)
      .returning("bot_id")
      .executeTakeFirst();
    if (changed && others.webhookUrl !== undefined) await setEndpoint(tx, botId, others.webhookUrl);
    return readBot(tx, botId);
  });
  forgetBot(database, botId);
  return bot ? { outcome: "updated", bot } : { outcome: "unknown-bot" };
}

/** Its codes earn nothing and its publisher receives 403; events that were earned before are still delivered. */
export function suspendBot(database: AdDatabase, { botId, now }: { botId: string; now: Date }) {
  return updateBot(database, { botId, settings: { isSuspended: true }, now });
}

export function resumeBot(database: AdDatabase, { botId, now }: { botId: string; now: Date }) {
  return updateBot(database, { botId, settings: { isSuspended: false }, now });
}
