import { loadWords } from "../words/catalog.ts";

export const tokensWords = loadWords("tokens");
