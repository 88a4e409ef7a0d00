import { randomBytes } from "node:crypto";
import { codeRandomBytes, newCodePrefix } from "@intermission/ad-core/code";
import { sql } from "kysely";
import type { AdDatabase, AdTransaction } from "../ad-database.ts";
import { spellAdvertisers } from "../advertisers/advertisers.ts";
import { type BotSettings, settingColumns } from "./bot-settings.ts";
import { type Bot, botOf, forgetBot, readBot } from "./bots.ts";
import type { SecretBox } from "./secret-box.ts";
import { insertToken, type TokenEntry } from "./tokens.ts";

/** Initial state of an endpoint whose address changed or that is enabled again: no results yet, and a test due now. */
export const pendingEndpoint = {
  state: "pending",
  disabled_reason: null,
  rest_until: Number.NEGATIVE_INFINITY,
  breaker: "closed",
  probe_at: Number.NEGATIVE_INFINITY,
  probe_failures: 0,
  probe_successes: 0,
  failures_in_row: 0,
  window_started_at: Number.NEGATIVE_INFINITY,
  window_attempts: 0,
  window_failures: 0,
  last_success_at: null,
  last_failure_at: null,
  failing_since: null,
  failures_since_success: 0,
  warned_percent: 0,
  gone_since: null,
  gone_event_id: null,
  is_gone_for_several: false,
  last_status: null,
  last_error_class: null,
  last_answer: null,
  test_event_id: null,
  tests: 0,
  is_tested_for_event: false,
} as const;

/**
 * Sets the address of a bot's webhooks. A new or changed address is `pending` until it passes a test; setting the same
 * address again changes nothing. Null removes the endpoint: unsent events are held until there is one.
 */
export async function setEndpoint(tx: AdTransaction, botId: string, url: string | null): Promise<void> {
  if (url === null) {
    await tx.query.deleteFrom("endpoints").where("bot_id", "=", botId).execute();
    return;
  }
  const fresh = { ...pendingEndpoint, url, state_since: sql<Date>`now()`, test_due_at: sql<Date>`now()` };
  await tx.query
    .insertInto("endpoints")
    .values({ bot_id: botId, ...fresh })
    // Deliveries under way finish unchanged: their count is kept, so that the limit applies during the change.
    .onConflict((conflict) =>
      conflict.column("bot_id").doUpdateSet(fresh).whereRef("endpoints.url", "<>", "excluded.url"),
    )
    .execute();
  await tx.query
    .insertInto("endpoint_claims")
    .values({ bot_id: botId })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

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
