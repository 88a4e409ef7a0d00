import { loadWords } from "../words/catalog.ts";

export const testersWords = loadWords("testers");
