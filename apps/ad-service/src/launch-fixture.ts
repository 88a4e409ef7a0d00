import { generateKeyPairSync } from "node:crypto";
import { signInitData } from "@intermission/ad-core/telegram-init-data";
import type { AdDatabase } from "./ad-database.ts";
import { addBot } from "./bots/add-bot.ts";
import type { SecretBox } from "./bots/secret-box.ts";
import type { Config } from "./config.ts";

const telegram = generateKeyPairSync("ed25519");
const privateKey = telegram.privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
const telegramPublicKey = telegram.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

/** For tests: what makes an app take launch data that `launchData` signs for this bot in Telegram's place. */
export function demoOf(botId: string): Config["demo"] {
  return { botId, telegramPublicKey, chatOrigin: undefined };
}

/** For tests: launch data of a user, signed for a bot. `more` are further signed fields. */
export function launchData(botId: string, userId: string, at: Date, more: Record<string, string> = {}): string {
  const fields = {
    auth_date: String(Math.floor(at.getTime() / 1000)),
    user: `{"id":${userId},"first_name":"Ada","language_code":"en"}`,
    ...more,
  };
  return signInitData({ fields, botToken: "1:made-up", botId, privateKey });
}

/** For tests: a bot of this id, with its token. */
export async function addBotOf(
  deps: { database: AdDatabase; secretBox: SecretBox },
  { botId, now }: { botId: string; now: Date },
): Promise<string> {
  const added = await addBot(deps, { botId, settings: {}, now });
  if (added.outcome !== "added") throw new Error(`${botId} is there already`);
  return added.token;
}
