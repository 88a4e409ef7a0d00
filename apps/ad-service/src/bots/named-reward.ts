import type { NamedReward } from "@intermission/ad-core/client-api";
import { InvalidArgumentError } from "commander";
import { z } from "zod";

const amountFault = "must be a whole number from 1 to 1000000000";
/** How much the bot pays for one view or click, in its unit. */
export const rewardAmount = z.int(amountFault).min(1, amountFault).max(1_000_000_000, amountFault);

const MOST_LANGUAGES = 40;
const word = z.string().trim().min(1, "must have 1 to 32 characters").max(32, "must have 1 to 32 characters");

/**
 * The unit of a reward, by language: a word for each plural category of `Intl.PluralRules`. `other` is required, since every
 * language has it; a category that is missing takes its word.
 */
export const rewardUnit = z
  .record(z.string().max(35), z.record(z.string().max(8), word))
  .superRefine((unit, context) => {
    const languages = Object.entries(unit);
    if (languages.length === 0 || languages.length > MOST_LANGUAGES)
      context.addIssue(`must have 1 to ${MOST_LANGUAGES} languages`);
    for (const [language, forms] of languages) {
      const known = pluralCategories(language);
      if (known === undefined) {
        context.addIssue(`"${language}" is not a language, such as en or pt`);
        continue;
      }
      const wrong = Object.keys(forms).filter((category) => !known.includes(category));
      if (wrong.length > 0)
        context.addIssue(`${language} has the plural forms ${known.join(", ")}, not ${wrong.join(", ")}`);
      if (forms.other === undefined) context.addIssue(`${language} needs the form other`);
    }
  });

/** Undefined if it is not a language without a region. */
function pluralCategories(language: string): string[] | undefined {
  const isKnown = /^[a-z]{2,3}$/.test(language) && Intl.PluralRules.supportedLocalesOf(language).length > 0;
  return isKnown ? new Intl.PluralRules(language).resolvedOptions().pluralCategories : undefined;
}

export type RewardUnit = z.infer<typeof rewardUnit>;

interface RewardSettings {
  rewardPerView: number | null;
  rewardPerClick: number | null;
  rewardUnit: RewardUnit | null;
}

/** What the bot's users are told that they get; undefined until the bot has a unit and an amount. */
export function namedRewardOf({ rewardPerView, rewardPerClick, rewardUnit }: RewardSettings): NamedReward | undefined {
  if (rewardUnit === null || (rewardPerView === null && rewardPerClick === null)) return undefined;
  return {
    ...(rewardPerView !== null && { per_view: rewardPerView }),
    ...(rewardPerClick !== null && { per_click: rewardPerClick }),
    unit: rewardUnit,
  };
}

/** Parses `--reward-unit`, one language each time: `en:one=coin,other=coins`. */
export function rewardUnitOption(text: string, earlier: RewardUnit | null = {}): RewardUnit | null {
  if (text === "none") return null;
  const [, language = "", list = ""] = /^([A-Za-z-]{2,35}):(.+)$/.exec(text) ?? [];
  const forms = list.split(",").map((form) => /^([a-z]+)=(.+)$/.exec(form.trim()) ?? []);
  if (forms.some(([whole]) => whole === undefined))
    throw new InvalidArgumentError("It must be a language and its plural forms, such as en:one=coin,other=coins.");
  return { ...earlier, [language]: Object.fromEntries(forms.map(([, category = "", name = ""]) => [category, name])) };
}
