import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { ReportObject } from "./search.ts";

/** Those of the chart, which other screens have, too. */
export const reportWords = loadWords("reports");

export const objectWords = loadWords("reportObjects") satisfies Record<Language, Record<ReportObject, string>>;
