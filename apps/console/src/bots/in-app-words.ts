import type { ScriptState } from "@intermission/operator-api/bots";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const inAppWords = loadWords("inApp") satisfies Record<
  Language,
  { readonly states: Record<Exclude<ScriptState, "working">, string> }
>;
