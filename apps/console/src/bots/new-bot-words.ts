import { loadWords } from "../words/catalog.ts";

/** The words of the screen that adds a bot. */
export const newBotWords = loadWords("newBot");
