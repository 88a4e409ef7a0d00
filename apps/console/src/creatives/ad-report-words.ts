import type { AdReport } from "@intermission/operator-api/creatives";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const adReportWords = loadWords("adReports");

export const adReportReasonWords = loadWords("adReportReasons") satisfies Record<
  Language,
  Record<AdReport["reason"], string>
>;
