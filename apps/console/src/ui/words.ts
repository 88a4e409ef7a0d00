import { loadWords } from "../words/catalog.ts";

export const uiWords = loadWords("ui");
