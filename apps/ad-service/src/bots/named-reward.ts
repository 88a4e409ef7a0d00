import type { NamedRewards } from "@intermission/ad-core/client-api";
import { InvalidArgumentError } from "commander";
import { z } from "zod";

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
