import { loadWords } from "../words/catalog.ts";

export const partyWords = loadWords("parties");
