import type { ConversionRefusal } from "@intermission/operator-api/conversions";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const conversionWords = loadWords("conversions");

/** Why postbacks recorded nothing. */
export const refusalWords = loadWords("conversionRefusals") satisfies Record<
  Language,
  Record<ConversionRefusal, string>
>;
