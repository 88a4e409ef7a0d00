import { telegramId } from "@intermission/ad-core/client-api";
import { z } from "zod";

function webAddress(protocol: RegExp, form: string) {
  return z
    .url({ protocol, error: `must be ${form}` })
    .max(2048)
    .refine(
      (address) => !URL.canParse(address) || new URL(address).username === "",
      "must not hold a user name or password",
    )
    .refine((address) => !address.includes("#"), "must not hold a fragment");
}

const address = webAddress(/^https?$/, "an address as https://example.com/webhooks");

/** What an operator may set for a bot. */
export const botSettings = z.object({
  name: z.string().trim().min(1).max(128),
  username: z
    .string()
    .regex(/^[A-Za-z]\w{3,31}$/, "must be the bot's username without the @")
    .nullable(),
  webhookUrl: address.nullable(),
  publisherApiUrl: address.nullable(),
  deliveryMode: z.enum(["at-least-once", "at-most-once"]),
  codeLifetimeSeconds: z.int().min(60).max(86_400),
  cooldownSeconds: z.int().min(0).max(604_800),
  dailyCap: z.int().min(1).max(10_000),
  testers: z.array(telegramId).max(100),
});
export type BotSettings = z.infer<typeof botSettings>;

/** Those that are columns of the bot; its endpoint is a row of its own. Only what was given. */
export function settingColumns(settings: Partial<BotSettings>) {
  const columns = {
    name: settings.name,
    username: settings.username,
    publisher_api_url: settings.publisherApiUrl,
    delivery_mode: settings.deliveryMode,
    code_lifetime_seconds: settings.codeLifetimeSeconds,
    cooldown_seconds: settings.cooldownSeconds,
    daily_cap: settings.dailyCap,
    testers: settings.testers,
  };
  return columns;
}
