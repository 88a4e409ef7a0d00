import { loadWords } from "../words/catalog.ts";

export const accountWords = loadWords("account");
