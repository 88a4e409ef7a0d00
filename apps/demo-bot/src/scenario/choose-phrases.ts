import type { Phrases } from "./phrases.ts";
import { english } from "./phrases-en.ts";
import { russian } from "./phrases-ru.ts";

/** For an IETF tag such as `ru-RU`; English where the language is not spoken here. */
export function choosePhrases(language: string): Phrases {
  return /^ru\b/i.test(language) ? russian : english;
}
