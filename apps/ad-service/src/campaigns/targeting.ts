import { telegramId } from "@intermission/ad-core/client-api";
import { shortWord } from "@intermission/server/parse-request";
import { z } from "zod";

const language = z.string().regex(/^[a-z]{2,3}$/, "must be a language code of two or three letters, as en");
const unique = <Item extends z.ZodType>(item: Item, most: number) =>
  z
    .array(item)
    .min(1, "must name at least one, or be left out")
    .max(most, `must name at most ${most}`)
    .refine((items) => new Set(items).size === items.length, "must not name anything twice");

const wholeNumber = (least: number, most: number) => {
  const message = `must be from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
};

/** The users that a campaign targets. An omitted target matches all; hours and weekdays are in the bot's time zone. */
export const targeting = z.strictObject({
  languages: unique(language, 100).optional(),
  platforms: unique(z.enum(["android", "ios", "desktop", "web"], "must be android, ios, desktop or web"), 4).optional(),
  premium: z.boolean().optional().describe("True: only users with Telegram Premium; false: only users without it."),
  bots: unique(telegramId, 1000).optional(),
  botCategories: unique(shortWord, 100).optional(),
  excludedBots: unique(telegramId, 1000).optional(),
  excludedBotCategories: unique(shortWord, 100).optional(),
  hours: unique(wholeNumber(0, 23), 24).optional(),
  weekdays: unique(wholeNumber(1, 7), 7).optional().describe("1 is Monday, 7 Sunday."),
});
export type Targeting = z.infer<typeof targeting>;
