import { loadWords } from "../words/catalog.ts";

export const bellWords = loadWords("bell");
