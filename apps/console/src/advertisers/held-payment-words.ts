import { loadWords } from "../words/catalog.ts";

export const heldPaymentWords = loadWords("heldPayments");
