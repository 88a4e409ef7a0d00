import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { ReportObject } from "./search.ts";

export const reportWords = loadWords("reports");

export const objectWords = loadWords("reportObjects") satisfies Record<Language, Record<ReportObject, string>>;
