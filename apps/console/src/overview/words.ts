import { wordTable } from "../words/word-table.ts";

export const overviewWords = wordTable({
  en: { overview: "Overview", nothing: "Nothing needs your attention." },
  ru: { overview: "Обзор", nothing: "Ничто не требует внимания." },
});
