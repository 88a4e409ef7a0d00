import { createHash, hkdfSync } from "node:crypto";
import type { Payout, TwoFieldMode } from "./bot-records.ts";

/** What is configured for a bot, by the environment or in the table. */
export interface BotSettings {
  /** Without @; null: codes have no link into Telegram. */
  readonly username: string | null;
  readonly miniAppName: string | null;
  readonly payout: Payout;
  readonly twoFieldEvents: TwoFieldMode;
}

/** A bot that this process serves. A change replaces the whole object. */
export interface Bot extends BotSettings {
  readonly id: string;
  /** Newest first: requests use the first, webhooks may be signed with any. */
  readonly adApiTokens: readonly [string, ...string[]];
  readonly telegramBotToken: string;
  /** SHA-256 in hex of each accepted key, newest first. */
  readonly backendKeyHashes: readonly string[];
  readonly sessionKey: Buffer;
  /** Aborts when this bot is changed or removed: watches end, and their callers must authenticate again. */
  readonly ended: AbortSignal;
}

/** The bot of the environment variables. */
export interface ConfiguredBot {
  readonly botId: string;
  readonly adApiTokens: readonly [string, ...string[]];
  readonly telegramBotToken: string;
  readonly backendApiKey: string;
  readonly botUsername: string | undefined;
  readonly miniAppName: string | undefined;
  readonly payout: Payout;
  readonly twoFieldEvents: TwoFieldMode;
}

export function configuredBot(configured: ConfiguredBot): Bot {
  const { botId, adApiTokens, telegramBotToken, backendApiKey, payout, twoFieldEvents } = configured;
  const settings = {
    username: configured.botUsername ?? null,
    miniAppName: configured.miniAppName ?? null,
    payout,
    twoFieldEvents,
  };
  const secrets = { adApiTokens, telegramBotToken, backendKeyHashes: [hashOfKey(backendApiKey)] };
  return makeBot(botId, settings, secrets, new AbortController().signal);
}

export function makeBot(
  id: string,
  settings: BotSettings,
  secrets: Pick<Bot, "adApiTokens" | "telegramBotToken" | "backendKeyHashes">,
  ended: AbortSignal,
): Bot {
  const { telegramBotToken, backendKeyHashes } = secrets;
  const sessionKey = deriveSessionKey({ telegramBotToken, backendKeyHash: backendKeyHashes[0] ?? "", botId: id });
  return { id, ...settings, ...secrets, sessionKey, ended };
}

const SESSION_KEY_BYTES = 32;

/** The key derives from the bot and both its secrets: a session is of one bot, and replacing either secret ends it. */
export function deriveSessionKey(secrets: { telegramBotToken: string; backendKeyHash: string; botId: string }): Buffer {
  const material = JSON.stringify([secrets.telegramBotToken, secrets.backendKeyHash]);
  return Buffer.from(hkdfSync("sha256", material, secrets.botId, "intermission session token v1", SESSION_KEY_BYTES));
}

/** Keys are random and long, so a plain digest cannot be guessed. */
export function hashOfKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
