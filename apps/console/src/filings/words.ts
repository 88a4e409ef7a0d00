import type { FilingGap, FilingKind, FilingState } from "@intermission/operator-api/ord-words";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const filingWords = loadWords("filings") satisfies Record<
  Language,
  { kinds: Record<FilingKind, string>; states: Record<FilingState, string>; gaps: Record<FilingGap, string> }
>;
