import type { BuiltInTexts } from "./bonus-languages.ts";

export interface BonusTexts {
  readonly offer: string;
  readonly button: string;
  /** `availableAt` is undefined if unknown. */
  readonly later: (availableAt: Date | undefined) => string;
  readonly failed: string;
  /** For messages in the name of a group or channel: Telegram does not say who sent them. */
  readonly anonymous: string;
}

const english: BuiltInTexts = {
  offer: "Watch a short ad to the end and close it to get your bonus.",
  button: "🎁 Watch and earn",
  later: "No ad is available now.",
  laterAt: "The next ad will be available at {time} UTC.",
  failed: "Something went wrong on our side. Please try again in a minute.",
  anonymous:
    "You write in the name of a group or channel, so I cannot tell who gets the bonus. Send me the command in private, or turn off “Remain anonymous” and write as yourself.",
};

/**
 * The built-in texts of a language, such as `de` or `pt-BR`, as Telegram names it in `ctx.from.language_code`: one of the
 * fifteen of the mini-app, else, and without a language, English.
 */
export async function bonusTexts(languageCode?: string): Promise<BonusTexts> {
  const { later, laterAt, ...texts } = await builtInTexts(languageCode?.toLowerCase().split(/[-_]/, 1)[0] ?? "en");
  return {
    ...texts,
    later: (at) => (at === undefined ? later : laterAt.replace("{time}", at.toISOString().slice(11, 16))),
  };
}

async function builtInTexts(language: string): Promise<BuiltInTexts> {
  if (language === "en") return english;
  const { bonusLanguage } = await import("./bonus-languages.ts");
  return bonusLanguage(language) ?? english;
}
