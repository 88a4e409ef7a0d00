import type { Platform } from "@intermission/operator-api/campaign-words";
import { audienceDimensions } from "@intermission/operator-api/report-figures";
import { isCountry, isLanguage } from "@intermission/operator-api/standard-codes";

/** What is known of a user, for targeting and statistics. */
export interface AudienceFacts {
  /** Two or three letters, lower-case. */
  language?: string | undefined;
  platform?: Platform | undefined;
  isPremium?: boolean | undefined;
  /** ISO 3166; null if it is unknown, undefined if no source of countries is configured. */
  country?: string | null | undefined;
}

export const audienceKeys = audienceDimensions;
export type AudienceKey = (typeof audienceKeys)[number];

const OTHER = "other";

/** The codes of two letters that a standard has. Read once: each takes 2 µs. */
function codesOf(letters: string, isCode: (code: string) => boolean): Set<string> {
  return new Set([...letters].flatMap((first) => [...letters].map((second) => first + second)).filter(isCode));
}

const countries = codesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZ", isCountry);
/** ISO 639-1, some 180, and Filipino: other languages of three letters are rare. */
const languages = codesOf("abcdefghijklmnopqrstuvwxyz", isLanguage).add("fil");

/** An ISO 3166 country in two capital letters; undefined for other text, such as `XX` and `T1` of some proxies. */
export function countryOf(text: string | null | undefined): string | undefined {
  const code = text?.trim().toUpperCase() ?? "";
  return countries.has(code) ? code : undefined;
}

/** What is recorded about a user, in bounded kinds. The country is "" where no source of countries is configured. */
export function audienceOf({ country, platform, language, isPremium }: AudienceFacts): Record<AudienceKey, string> {
  return {
    country: country === undefined ? "" : (country ?? OTHER),
    platform: platform ?? OTHER,
    language: language !== undefined && languages.has(language) ? language : OTHER,
    premium: isPremium === undefined ? OTHER : isPremium ? "premium" : "regular",
  };
}

/** As facts store it, in one column: `DE|ios|de|premium`. */
export function audienceText(user: AudienceFacts): string {
  const audience = audienceOf(user);
  return audienceKeys.map((key) => audience[key]).join("|");
}

/** SQL of the columns of a stored audience; each is '' where none was recorded. */
export const audienceColumns = audienceKeys
  .map((key, index) => `split_part(audience, '|', ${index + 1}) as ${key}`)
  .join(", ");
