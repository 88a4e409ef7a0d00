import { generateKeyPairSync } from "node:crypto";
import { signInitData } from "@intermission/ad-core/telegram-init-data";

export interface LaunchToSign {
  readonly userId: string;
  /** The bot's token, `7000000001:…`: signs `hash`, as your own backend verifies it. */
  readonly botToken: string;
  /** Ed25519, PKCS #8 DER in base64: signs `signature`, as a service verifies it that knows only the bot's id. */
  readonly privateKey?: string | undefined;
  readonly firstName?: string | undefined;
  readonly languageCode?: string | undefined;
  /** The value of `startapp` in the link that opened the mini-app. */
  readonly startParam?: string | undefined;
  /** When the user opened the mini-app; now by default. */
  readonly now?: Date | undefined;
}

/**
 * Makes the init data (`Telegram.WebApp.initData`) of a user who opens the mini-app. Without `privateKey`, `signature` is
 * made with a new key that nobody knows, so only `hash` can be verified.
 */
export function signLaunch(launch: LaunchToSign): string {
  const { userId, botToken, firstName = "Test", languageCode = "en", startParam, now = new Date() } = launch;
  const fields = {
    auth_date: String(Math.floor(now.getTime() / 1000)),
    user: JSON.stringify({ id: Number(userId), first_name: firstName, language_code: languageCode }),
    ...(startParam !== undefined && { start_param: startParam }),
  };
  const botId = botToken.split(":", 1)[0] ?? "";
  return signInitData({ fields, botToken, botId, privateKey: launch.privateKey ?? newPrivateKey() });
}

function newPrivateKey(): string {
  return generateKeyPairSync("ed25519").privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
}
