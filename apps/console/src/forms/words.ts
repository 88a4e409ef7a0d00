import { loadWords } from "../words/catalog.ts";

/** Of every form. */
export const formWords = loadWords("forms");
