import { loadWords } from "../words/catalog.ts";

export const alertSettingsWords = loadWords("alertSettings");
