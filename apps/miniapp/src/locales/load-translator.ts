import { chooseLanguage } from "./choose-language.ts";
import { en } from "./en.ts";
import { languages } from "./languages.ts";
import { createTranslator, type Translator } from "./translate.ts";

const STORED = "language";

/** The user's Telegram language → the one he used here before → the browser's → English. Sets `lang` and `dir` of the page. */
export async function loadTranslator(languageCode: string | undefined): Promise<Translator> {
  const language = chooseLanguage([languageCode, readStored(), ...navigator.languages]);
  const root = document.documentElement;
  try {
    const dictionary = await languages[language].load();
    root.lang = language;
    root.dir = languages[language].direction;
    if (languageCode) store(language);
    return createTranslator(language, dictionary);
  } catch {
    // A dictionary that does not arrive must not stand between a user and his reward.
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
    // Storage is closed in some frames.
  }
}
