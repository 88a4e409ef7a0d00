import { randomBytes } from "node:crypto";
import { codeRandomBytes, newCodePrefix } from "@intermission/ad-core/code";
import type { AdDatabase } from "../ad-database.ts";
import { spellAdvertisers } from "../advertisers/advertiser-names.ts";
import { type BotSettings, settingColumns } from "./bot-settings.ts";
import { insertToken } from "./create-token.ts";
import { forgetBot } from "./find-bot.ts";
import { type Bot, botOf } from "./rows.ts";
import type { SecretBox } from "./secret-box.ts";
import { setEndpoint } from "./set-endpoint.ts";
import type { TokenEntry } from "./token-rows.ts";

export type AddBotOutcome =
  /** The token itself is returned only once, here. */
  { outcome: "added"; bot: Bot; entry: TokenEntry; token: string } | { outcome: "bot-exists" };

/** Creates the bot and its first token in one commit. Settings that are not given take the tables' defaults. */
export async function addBot(
  { database, secretBox }: { database: AdDatabase; secretBox: SecretBox },
  input: { botId: string; settings: Partial<BotSettings>; now: Date },
): Promise<AddBotOutcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await addOnce({ database, secretBox }, input);
    } catch (error) {
      // A prefix has 23 random bits: with many bots, collisions happen now and then.
      const isPrefixTaken =
        error instanceof Error && "constraint" in error && error.constraint === "bots_code_prefix_key";
      if (!isPrefixTaken || attempt === 10) throw error;
    }
  }
}

async function addOnce(
  { database, secretBox }: { database: AdDatabase; secretBox: SecretBox },
  { botId, settings, now }: { botId: string; settings: Partial<BotSettings>; now: Date },
): Promise<AddBotOutcome> {
  const outcome = await database.transaction<AddBotOutcome>(async (tx) => {
    const { blockedAdvertisers: blocked } = settings;
    const row = await tx.query
      .insertInto("bots")
      .values({
        ...settingColumns(settings),
        ...(blocked && { blocked_advertisers: await spellAdvertisers(tx, blocked) }),
        bot_id: botId,
        code_prefix: newCodePrefix(randomBytes(codeRandomBytes)),
        name: settings.name ?? `Bot ${botId}`,
        created_at: now,
        updated_at: now,
      })
      .onConflict((conflict) => conflict.column("bot_id").doNothing())
      .returningAll()
      .executeTakeFirst();
    if (!row) return { outcome: "bot-exists" };
    const { webhookUrl = null } = settings;
    if (webhookUrl !== null) await setEndpoint(tx, botId, webhookUrl);
    return {
      outcome: "added",
      bot: botOf({ ...row, webhook_url: webhookUrl }),
      ...(await insertToken(tx, secretBox, { botId, state: "active", now })),
    };
  });
  forgetBot(database, botId);
  return outcome;
}
