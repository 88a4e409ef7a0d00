import { type NamedRewards, telegramId } from "@intermission/ad-core/client-api";
import type { ColumnsOf } from "@intermission/postgres/row-columns";
import { shortWord } from "@intermission/server/parse-request";
import { InvalidArgumentError } from "commander";
import { z } from "zod";
import { callableAddress } from "../outbound/callable-address.ts";

const amountFault = "must be a whole number from 1 to 1000000000";
/** How much the bot pays for one view or click, in its unit. */
export const rewardAmount = z.int(amountFault).min(1, amountFault).max(1_000_000_000, amountFault);

const MOST_LANGUAGES = 40;
const lengthFault = "must have 1 to 32 characters";
// No control characters, and none that change the direction of the text after them. Persian and Indic words need U+200C and
// U+200D, which join letters or keep them apart.
const plainText = /^(?:[\u200c\u200d]|[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}])*$/u;
const word = z
  .string()
  .trim()
  .min(1, lengthFault)
  .max(32, lengthFault)
  .regex(plainText, "must not hold control characters");

/**
 * The unit of a reward: the word after the amount, by language and plural category of `Intl.PluralRules`. A language has a
 * word for each category that its whole numbers below 1000 use, and may have its others.
 */
export const rewardUnit = z.record(z.string(), z.record(z.string(), word)).superRefine((unit, context) => {
  const languages = Object.entries(unit);
  if (languages.length === 0 || languages.length > MOST_LANGUAGES)
    context.addIssue(`must have 1 to ${MOST_LANGUAGES} languages`);
  for (const [language, forms] of languages.slice(0, MOST_LANGUAGES)) {
    const fault = faultOf(language, Object.keys(forms));
    if (fault !== undefined) context.addIssue(fault);
  }
});
export type RewardUnit = z.infer<typeof rewardUnit>;

function faultOf(language: string, given: readonly string[]): string | undefined {
  // Without a region: the mini-app's languages have none.
  if (!/^[a-z]{2,3}$/.test(language) || Intl.PluralRules.supportedLocalesOf(language).length === 0)
    return `${JSON.stringify(language.slice(0, 20))} is not a language, such as en or pt`;
  const rules = new Intl.PluralRules(language);
  const known: string[] = rules.resolvedOptions().pluralCategories;
  const wrong = given.filter((category) => !known.includes(category));
  if (wrong.length > 0) return `${language} has the plural forms ${known.join(", ")}`;
  const needed = [...new Set(Array.from({ length: 999 }, (_, index) => rules.select(index + 1)))];
  const isWhole = needed.every((category) => given.includes(category));
  return isWhole ? undefined : `${language} needs the plural forms ${needed.join(", ")}`;
}

interface RewardSettings {
  rewardPerView: number | null;
  rewardPerClick: number | null;
  rewardUnit: RewardUnit | null;
}

/** What the bot's users are told that they get; undefined if the bot names nothing. */
export function namedRewardsOf(bot: RewardSettings): NamedRewards | undefined {
  const { rewardPerView, rewardPerClick, rewardUnit: unit } = bot;
  if (unit === null || (rewardPerView === null && rewardPerClick === null)) return undefined;
  return {
    ...(rewardPerView !== null && { rewarded: { amount: rewardPerView, unit } }),
    ...(rewardPerClick !== null && { direct_link: { amount: rewardPerClick, unit } }),
  };
}

/** Parses `--reward-unit`, one language each time: `en:one=coin,other=coins`. `none` stays: commander makes null a text. */
export function rewardUnitOption(text: string, earlier: RewardUnit | "none" = {}): RewardUnit | "none" {
  if (text === "none") return text;
  const [, language = "", list = ""] = /^([A-Za-z-]{2,35}):(.+)$/.exec(text) ?? [];
  const forms = list.split(",").map((form) => /^([a-z]+)=(.+)$/.exec(form.trim()) ?? []);
  if (forms.some(([whole]) => whole === undefined))
    throw new InvalidArgumentError("It must be a language and its plural forms, such as en:one=coin,other=coins.");
  const words = Object.fromEntries(forms.map(([, category = "", name = ""]) => [category, name]));
  return { ...(earlier !== "none" && earlier), [language]: words };
}

const wholeNumber = (least: number, most: number, unit = "") => {
  const message = `must be a whole number from ${least} to ${most}${unit && ` ${unit}`}`;
  return z.int(message).min(least, message).max(most, message);
};

/** The name of a time zone. */
export const timeZone = z.string().refine(isTimeZone, "must be a time zone such as Europe/Berlin, or UTC");

/** Settings of a bot that an operator may change. */
export const botSettings = z.object({
  name: z.string().trim().min(1, "must have 1 to 128 characters").max(128, "must have 1 to 128 characters"),
  username: z
    .string()
    .regex(/^[A-Za-z]\w{3,31}$/, "must be the bot's username without the @")
    .nullable(),
  webhookUrl: callableAddress.nullable(),
  publisherApiUrl: callableAddress.nullable(),
  deliveryMode: z.enum(["at-least-once", "at-most-once"]),
  codeLifetimeSeconds: wholeNumber(60, 86_400, "seconds"),
  cooldownSeconds: wholeNumber(0, 604_800, "seconds"),
  dailyCap: wholeNumber(1, 10_000),
  testers: z.array(telegramId).max(100, "must name at most 100"),
  category: shortWord.nullable().describe("The bot's topic: campaigns may target or exclude it."),
  timeZone: timeZone.describe("Hours and weekdays of campaigns are meant in this time zone."),
  blockedCategories: z
    .array(shortWord)
    .max(100, "must name at most 100")
    .describe("Categories of campaigns that the publisher does not want."),
  blockedAdvertisers: z
    .array(z.string().trim().min(1, "must name an advertiser").max(128, "must have at most 128 characters"))
    .max(1000, "must name at most 1000"),
  suspiciousViews: z
    .enum(["pay", "hold", "refuse"])
    .describe("How a view is treated that earned but looks suspicious."),
  suspiciousClicks: z
    .enum(["pay", "hold-farms", "hold", "refuse"])
    .describe(
      "How a click on a direct link is treated that counts but looks suspicious. `hold-farms`, the default, holds what passes the bounds for click farms and pays all others.",
    ),
  payPerCode: z
    .enum(["once", "each"])
    .describe(
      "What a code earns: `once` is one event, a view or a click, whichever comes first; `each` is one view and one click. The publisher pays by the same rule.",
    ),
  rewardPerView: rewardAmount.nullable().describe("What the mini-app tells its users that a view is worth."),
  rewardPerClick: rewardAmount.nullable().describe("The same for a click on a direct link."),
  rewardUnit: rewardUnit
    .nullable()
    .describe(
      "The unit of both: a word for each plural category of `Intl.PluralRules`, by language; `other` is required.",
    ),
  skipOffer: z.boolean().describe("The mini-app starts the ad without its offer, muted."),
  closeWhenCredited: z.boolean().describe("The mini-app closes itself some seconds after the reward is credited."),
  includeRevenue: z
    .boolean()
    .describe("Webhooks and the list of events say what each event is worth to the publisher."),
});
export type BotSettings = z.infer<typeof botSettings>;

function isTimeZone(name: string): boolean {
  try {
    // Time zones are named by an area: a fixed offset would be wrong for half of the year.
    return name === "UTC" || (/^[A-Z]/.test(name) && new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined);
  } catch {
    return false;
  }
}

/** The columns of `bots` that hold settings; its endpoint is a separate row. */
export const settingColumns = {
  name: "name",
  username: "username",
  publisherApiUrl: "publisher_api_url",
  deliveryMode: "delivery_mode",
  codeLifetimeSeconds: "code_lifetime_seconds",
  cooldownSeconds: "cooldown_seconds",
  dailyCap: "daily_cap",
  testers: "testers",
  category: "category",
  timeZone: "time_zone",
  blockedCategories: "blocked_categories",
  blockedAdvertisers: "blocked_advertisers",
  suspiciousViews: "suspicious_views",
  suspiciousClicks: "suspicious_clicks",
  payPerCode: "pay_per_code",
  rewardPerView: "reward_per_view",
  rewardPerClick: "reward_per_click",
  rewardUnit: "reward_unit",
  skipOffer: "skip_offer",
  closeWhenCredited: "close_when_credited",
  includeRevenue: "include_revenue",
} satisfies ColumnsOf<Omit<BotSettings, "webhookUrl">>;
