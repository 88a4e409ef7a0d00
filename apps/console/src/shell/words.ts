import { loadWords } from "../words/catalog.ts";

export const shellWords = loadWords("shell");
