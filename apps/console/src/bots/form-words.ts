import type { FormWords } from "../forms/form-words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";
import type { BotField, BotSection } from "./bot-form-definition.ts";

/** The words of the form of a bot's settings. */
export const botFormWords = loadWords("botForm") satisfies Record<Language, FormWords<BotField, BotSection>>;
