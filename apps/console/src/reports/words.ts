import type { ReportObject } from "@intermission/operator-api/report-address";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

/** Those of the chart, which other screens have, too. */
export const reportWords = loadWords("reports");

export const objectWords = loadWords("reportObjects") satisfies Record<Language, Record<ReportObject, string>>;
