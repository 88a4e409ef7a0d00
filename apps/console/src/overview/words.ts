import { loadWords } from "../words/catalog.ts";

export const overviewWords = loadWords("overview");
