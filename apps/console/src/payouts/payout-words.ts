import { loadWords } from "../words/catalog.ts";

/** Apart from those of the screen, which the form would load with them. */
export const payoutFormWords = loadWords("payout");
