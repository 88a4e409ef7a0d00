import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { ChecklistStep } from "./checklist.ts";

export const publisherWords = loadWords("publisher");

export const stepWords = loadWords("checklistSteps") satisfies Record<Language, Record<ChecklistStep, string>>;
