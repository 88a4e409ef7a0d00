import type { InitDataUser } from "@intermission/ad-core/telegram-init-data";
import type { Bot } from "@intermission/operator-api/bots";
import type { SecretBox } from "@intermission/server/secret-box";
import { z } from "zod";

/** A game stays open for hours; Telegram's launch data begins a view within the first only. */
export const APP_GRANT_SECONDS = 12 * 3600;

const content = z.object({
  origin: z.string(),
  user: z.object({ id: z.string(), languageCode: z.string().optional(), isPremium: z.boolean().optional() }),
  startParam: z.string().optional(),
  endsAt: z.int(),
});

/** Whose ads a page of this origin may show, and until when: `app_grant` on the wire. */
interface AppGrant {
  origin: string;
  user: InitDataUser;
  startParam: string | undefined;
  endsAt: Date;
}

const ownerOf = (botId: string) => `app grant of ${botId}`;

/** Encrypted and authenticated with the key of the environment, so that every node reads it and none stores it. */
export function issueAppGrant(box: SecretBox, botId: string, { endsAt, ...grant }: AppGrant): string {
  return box.seal(JSON.stringify({ ...grant, endsAt: endsAt.getTime() }), ownerOf(botId)).toString("base64url");
}

/** Removing the origin from the bot's settings ends its grants. */
export function readAppGrant(
  box: SecretBox,
  { token, bot, now }: { token: string; bot: Pick<Bot, "botId" | "appOrigins">; now: Date },
): ({ outcome: "valid" } & AppGrant) | { outcome: "invalid" | "expired" } {
  const opened = openToken(box, token, bot.botId);
  if (opened === undefined || !bot.appOrigins.includes(opened.origin)) return { outcome: "invalid" };
  const endsAt = new Date(opened.endsAt);
  if (endsAt <= now) return { outcome: "expired" };
  const { id, languageCode, isPremium } = opened.user;
  const user = { id, ...(languageCode && { languageCode }), ...(isPremium && { isPremium }) };
  return { outcome: "valid", origin: opened.origin, user, startParam: opened.startParam, endsAt };
}

function openToken(box: SecretBox, token: string, botId: string): z.infer<typeof content> | undefined {
  try {
    return content.parse(JSON.parse(box.open(Buffer.from(token, "base64url"), ownerOf(botId))));
  } catch {
    // Another key, another bot, or a changed letter.
    return undefined;
  }
}
