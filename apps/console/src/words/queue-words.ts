import { loadWords } from "./catalog.ts";

/** Words of both queues for approval, of creatives and of campaigns. */
export const queueWords = loadWords("creatives");
