import type { FormWords } from "../forms/form-words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { NewBotField } from "./bot-form-definition.ts";
import { botFormWords } from "./form-words.ts";

/** Apart from those of the screen, which the form would load with them. */
const idWords = loadWords("newBotForm");

/** The words of the settings, and that of the id. */
export function newBotFormWords(language: Language): FormWords<NewBotField> {
  const { labels, hints } = botFormWords[language];
  const { botId, botIdHint } = idWords[language];
  return { labels: { ...labels, botId }, hints: { ...hints, botId: botIdHint } };
}
