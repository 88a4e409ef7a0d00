import type { ChangingRouteName } from "@intermission/operator-api/operator-routes";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { useLanguage } from "../words/word-table.ts";

/** What was done, as a sentence: a changing route without one does not compile. */
export const changeWords = loadWords("changes") satisfies Record<Language, Record<ChangingRouteName, string>>;

/** The sentence of an operation; an entry may name one that this version does not have, which is shown as it is. */
export function useChangeText(): (operation: string) => string {
  // Only the words of the reader's language are loaded.
  const words: Readonly<Record<string, string>> = changeWords[useLanguage()];
  return (operation) => (Object.hasOwn(words, operation) ? (words[operation] ?? operation) : operation);
}
