import type { Alert, AlertCause, alertFacts } from "@intermission/operator-api/alerts";
import { type Sayable, sayWith, type ValueNames } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import { alertWords } from "./words.ts";

const sentences = (language: Language): Record<AlertCause, Sayable> => alertWords[language].sentences;

type UnknownValues = {
  [Cause in AlertCause]: Exclude<ValueNames<`alerts.sentences.${Cause}`>, (typeof alertFacts)[Cause][number]>;
}[AlertCause];

/** What an alert says. Numbers of its facts are said as such, by the plural of the language. */
export function alertText({ cause, facts }: Alert, language: Language): string {
  const values = Object.entries(facts).map(([name, value]) => [name, name === "count" ? Number(value) : value]);
  return sayWith<UnknownValues>(sentences(language)[cause], Object.fromEntries(values));
}
