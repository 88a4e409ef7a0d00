import { loadWords } from "./catalog.ts";

/** Of what waits for approval, creatives and campaigns. */
export const queueWords = loadWords("creatives");
