import type { ReportRange } from "@intermission/operator-api/report-address";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { useWords } from "../words/word-table.ts";
import { figures } from "./columns.ts";
import type { Figure } from "./figures.ts";
import { reportWords } from "./words.ts";

/** Those of the screen of reports alone. */
export const viewWords = loadWords("reportView");

export const rangeWords = loadWords("reportRanges") satisfies Record<Language, Record<ReportRange | "7-days", string>>;

type ChartFigure = keyof (typeof reportWords)["en"]["figures"];
const moreWords = loadWords("reportFigures") satisfies Record<Language, Record<Exclude<Figure, ChartFigure>, string>>;

/** The names of all figures, money first. */
export function useFigureNames(): Readonly<Record<Figure, string>> {
  const names: Record<Figure, string> = { ...useWords(reportWords).figures, ...useWords(moreWords) };
  return Object.fromEntries(figures.map((figure) => [figure, names[figure]])) as Record<Figure, string>;
}
