import { loadWords } from "../words/catalog.ts";

export const payoutWords = loadWords("payouts");
