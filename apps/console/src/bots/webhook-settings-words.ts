import type { FormWords } from "../forms/form-words.ts";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const webhookSettingsWords = loadWords("webhookSettings");

export const endpointFormWords = loadWords("endpointForm") satisfies Record<Language, FormWords<"maxInFlight">>;

export const noticesFormWords = loadWords("noticesForm") satisfies Record<
  Language,
  FormWords<"email" | "telegramChatId" | "webhookUrl">
>;
