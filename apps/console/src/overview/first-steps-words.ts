import { loadWords } from "../words/catalog.ts";

export const firstStepsWords = loadWords("firstSteps");
