import { loadWords } from "../words/catalog.ts";

export const alertWords = loadWords("alerts");
