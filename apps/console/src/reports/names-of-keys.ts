import type { Dimension } from "@intermission/operator-api/report-figures";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { platformWords } from "../words/vocabulary-words.ts";
import { reportWords } from "./words.ts";

const premiumWords = loadWords("premiumStates") satisfies Record<Language, Record<string, string>>;

type Named = Readonly<Partial<Record<Dimension, string>>>;

interface NamedRow {
  readonly keys: Named;
  readonly names: Named;
}

/** What a row is of in one of its dimensions: the operator's name, or that of a country, a language, a platform. Undefined: not recorded. */
export function nameOfKey(language: Language, { names, keys }: NamedRow, dimension: Dimension): string | undefined {
  const key = names[dimension] ?? keys[dimension];
  if (key === undefined || key === "") return undefined;
  switch (dimension) {
    case "country":
      return /^[A-Z]{2}$/.test(key) ? displayName(language, "region", key) : ofWords(language, {}, key);
    case "language":
      return /^[a-z]{2,3}$/.test(key) ? displayName(language, "language", key) : ofWords(language, {}, key);
    case "platform":
      return ofWords(language, platformWords[language], key);
    case "premium":
      return ofWords(language, premiumWords[language], key);
    case "hour":
    case "day":
    case "bot":
    case "campaign":
    case "creative":
    case "advertiser":
      return key;
    default:
      return dimension satisfies never;
  }
}

const displayName = (language: Language, type: "region" | "language", code: string) =>
  new Intl.DisplayNames(language, { type }).of(code);

/** Rows may hold a word that only a newer server knows. */
function ofWords(language: Language, words: Readonly<Record<string, string>>, key: string): string {
  return key === "other" ? reportWords[language].other : (words[key] ?? key);
}
