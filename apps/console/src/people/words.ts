import { loadWords } from "../words/catalog.ts";

export const peopleWords = loadWords("people");
