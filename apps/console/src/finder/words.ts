import { loadWords } from "../words/catalog.ts";

export const finderWords = loadWords("finder");
