import type { AdRequest } from "./eligibility.ts";

/** Who a figure of the statistics is of, each in few kinds: `other` is a value that is unknown, or that too few people have. */
export type AudienceKey = "country" | "platform" | "language" | "premium";

const OTHER = "other";

const languages = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** What of a user is recorded, in bounded kinds. `country` is undefined where nothing tells countries: then it is absent. */
export function audienceOf({ country, platform, language, isPremium }: AdRequest["user"]): Record<AudienceKey, string> {
  return {
    country: country === undefined ? "" : (country ?? OTHER),
    platform: platform ?? OTHER,
    language: language !== undefined && isKnownLanguage(language) ? language : OTHER,
    premium: isPremium === undefined ? OTHER : isPremium ? "premium" : "regular",
  };
}

/** The languages of ISO 639-1, some 180: those of three letters are rare. */
function isKnownLanguage(language: string): boolean {
  return /^[a-z]{2}$/.test(language) && languages.of(language) !== undefined;
}

const keys = ["country", "platform", "language", "premium"] as const satisfies readonly AudienceKey[];

/** As facts store it, in one column: `DE|ios|de|premium`. */
export function audienceText(user: AdRequest["user"]): string {
  const audience = audienceOf(user);
  return keys.map((key) => audience[key]).join("|");
}

/** SQL of the columns of a stored audience; each is '' where none was recorded. */
export const audienceColumns = keys.map((key, index) => `split_part(audience, '|', ${index + 1}) as ${key}`).join(", ");
