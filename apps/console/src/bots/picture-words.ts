import { loadWords } from "../words/catalog.ts";

export const pictureWords = loadWords("pictures");
