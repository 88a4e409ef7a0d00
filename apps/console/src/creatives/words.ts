import { loadWords } from "../words/catalog.ts";

export const creativeWords = loadWords("creatives");

export const boughtCreativeWords = loadWords("boughtCreatives");
