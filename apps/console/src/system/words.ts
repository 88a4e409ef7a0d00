import type { KeptRows } from "@intermission/operator-api/status";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const systemWords = loadWords("system") satisfies Record<Language, { rows: Record<KeptRows, string> }>;
