import { directionOf } from "@intermission/ad-core/page-language";
import { en } from "./en.ts";
import { chooseLanguage, loadDictionary } from "./languages.ts";
import { createTranslator, type Translator } from "./translate.ts";

const STORED = "language";
const MAX_LOAD_MS = 8000;

/** The user's Telegram language → the language used here before → the browser's → English. Sets the page's `lang` and `dir`. */
export async function loadTranslator(languageCode: string | undefined): Promise<Translator> {
  const language = chooseLanguage([languageCode, readStored(), ...navigator.languages]);
  const root = document.documentElement;
  try {
    const tooLate = new Promise<never>((_, reject) => setTimeout(reject, MAX_LOAD_MS));
    const dictionary = await Promise.race([loadDictionary(language), tooLate]);
    root.lang = language;
    root.dir = directionOf(language);
    if (languageCode) store(language);
    return createTranslator(language, dictionary);
  } catch {
    // A dictionary that fails to load, or stalls, must not block the reward.
    return createTranslator("en", en);
  }
}

function readStored(): string | null {
  try {
    return localStorage.getItem(STORED);
  } catch {
    return null;
  }
}

function store(language: string): void {
  try {
    localStorage.setItem(STORED, language);
  } catch {
    // Storage is not accessible in some frames.
  }
}
