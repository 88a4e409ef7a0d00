import {
  type GeneralProblem,
  generalProblems,
  type ProblemCode,
  type ProblemValues,
  problems,
} from "@intermission/operator-api/problems";
import { loadWords, type Sayable, sayWith, type ValueNames } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { LocalText } from "./local-text.ts";

/** The server's refusals in the reader's language. A problem without a sentence does not compile. */
const problemWords = loadWords("problems") satisfies Record<Language, Record<ProblemCode, Sayable>>;

/** The values that a sentence has and its problem does not. */
type UnknownValues = {
  [Code in ProblemCode]: Exclude<ValueNames<`problems.${Code}`>, keyof ProblemValues<Code>>;
}[ProblemCode];

/** Refusals of any route, of which the server's own sentence says more in English. */
const generalWords = loadWords("generalProblems") satisfies Record<Language, Record<GeneralProblem, string>>;

/** Undefined: this version knows no such refusal, or it lacks a value; then the server's message is shown. */
export function problemTexts({
  code,
  values,
  message,
}: {
  code: string;
  values: Readonly<Record<string, string>>;
  message: string;
}): LocalText | undefined {
  if (isGeneral(code)) return { in: (language) => (language === "en" ? message : generalWords[language][code]) };
  if (!isProblem(code) || problems[code].some((name) => values[name] === undefined)) return undefined;
  return { in: (language) => sayWith<UnknownValues>(problemWords[language][code], values) };
}

function isProblem(code: string): code is ProblemCode {
  return Object.hasOwn(problems, code);
}

function isGeneral(code: string): code is GeneralProblem {
  return (generalProblems as readonly string[]).includes(code);
}
