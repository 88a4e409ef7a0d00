import { loadWords } from "./catalog.ts";

export const unitWords = loadWords("units");
