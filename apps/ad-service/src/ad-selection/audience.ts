import type { AdRequest } from "./eligibility.ts";

/** Who a figure of the statistics is of, each in few kinds: `other` is a value that is unknown, or that too few people have. */
export type AudienceKey = "country" | "platform" | "language" | "premium";

const OTHER = "other";

/** The names of countries and languages that this runtime has: codes without a name are made up, or reserved. */
const names = {
  region: new Intl.DisplayNames("en", { type: "region", fallback: "none" }),
  language: new Intl.DisplayNames("en", { type: "language", fallback: "none" }),
};
/** Unknown, and the two pseudo-locales of tests. */
const noCountries = ["ZZ", "XA", "XB"];

/** An ISO 3166 country in two capital letters; undefined for other text, such as `XX` and `T1` of some proxies. */
export function countryOf(text: string | null | undefined): string | undefined {
  const code = text?.trim().toUpperCase() ?? "";
  if (!/^[A-Z]{2}$/.test(code) || noCountries.includes(code)) return undefined;
  return names.region.of(code) === undefined ? undefined : code;
}

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
  return /^[a-z]{2}$/.test(language) && names.language.of(language) !== undefined;
}

const keys = ["country", "platform", "language", "premium"] as const satisfies readonly AudienceKey[];

/** As facts store it, in one column: `DE|ios|de|premium`. */
export function audienceText(user: AdRequest["user"]): string {
  const audience = audienceOf(user);
  return keys.map((key) => audience[key]).join("|");
}

/** SQL of the columns of a stored audience; each is '' where none was recorded. */
export const audienceColumns = keys.map((key, index) => `split_part(audience, '|', ${index + 1}) as ${key}`).join(", ");
