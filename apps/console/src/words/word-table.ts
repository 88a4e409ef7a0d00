import { createContext, useContext } from "react";
import { type Language, languages } from "./languages.ts";

export const LanguageContext = createContext<Language>("en");
export const SetLanguageContext = createContext<(language: Language) => void>(() => {});

export function useLanguage(): Language {
  return useContext(LanguageContext);
}

export function useWords<Words>(table: Record<Language, Words>): Words {
  return table[useLanguage()];
}

const KEPT = "console-language";

/** The chosen language, or the first of the browser's that the console has. */
export function preferredLanguage(): Language {
  for (const tag of [localStorage.getItem(KEPT), ...navigator.languages]) {
    const known = languages.find((language) => tag?.toLowerCase().startsWith(language));
    if (known !== undefined) return known;
  }
  return "en";
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(KEPT, language);
}
