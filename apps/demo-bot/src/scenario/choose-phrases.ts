import type { Phrases } from "./phrases.ts";
import { english } from "./phrases-en.ts";
import { russian } from "./phrases-ru.ts";

/** Phrases for an IETF tag such as `ru-RU`; English for unsupported languages. */
export function choosePhrases(language: string): Phrases {
  return /^ru\b/i.test(language) ? russian : english;
}
