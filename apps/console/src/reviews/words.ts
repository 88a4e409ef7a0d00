import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { ReviewState } from "./search.ts";

export const reviewWords = loadWords("reviews");

export const reviewStateWords = loadWords("reviewStates") satisfies Record<Language, Record<ReviewState, string>>;
