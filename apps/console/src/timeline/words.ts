import type { TimelineStep } from "@intermission/operator-api/timeline";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const timelineWords = loadWords("timeline");

export const stepWords = loadWords("timelineSteps") satisfies Record<Language, Record<TimelineStep, string>>;
