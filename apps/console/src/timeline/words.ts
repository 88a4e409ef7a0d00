import type { CodeVerdict, TimelineStep } from "@intermission/operator-api/timeline";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const timelineWords = loadWords("timeline");

export const stepWords = loadWords("timelineSteps") satisfies Record<Language, Record<TimelineStep, string>>;

/** What became of a code, and what to do. */
export const verdictWords = loadWords("codeVerdicts") satisfies Record<Language, Record<CodeVerdict, string>>;

export const verdictNames = loadWords("codeVerdictNames") satisfies Record<Language, Record<CodeVerdict, string>>;
