import { createContext, useContext } from "react";

/** The languages of the console. A table of words has all of them, or does not compile. */
export const languages = ["en", "ru"] as const;
export type Language = (typeof languages)[number];

export const languageNames = { en: "English", ru: "Русский" } satisfies Record<Language, string>;

/** A text, a text with values, or the texts of a union by its members. */
type Word = string | ((...values: never[]) => string) | Readonly<Record<string, string>>;

/** The words of a screen: the languages other than English have the same names, and functions with the same values. */
export function wordTable<Words extends Record<string, Word>>(
  table: { en: Words } & Record<Exclude<Language, "en">, NoInfer<{ [Name in keyof Words]: Widened<Words[Name]> }>>,
): Record<Language, { [Name in keyof Words]: Widened<Words[Name]> }> {
  // The mapped type only forgets which text it is.
  return table as Record<Language, { [Name in keyof Words]: Widened<Words[Name]> }>;
}

type Widened<One extends Word> = One extends string
  ? string
  : One extends Readonly<Record<string, string>>
    ? { readonly [Name in keyof One]: string }
    : One;

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

/** English has `one` and `other`, Russian `few` and `many`, too. */
type Forms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>;

const numbers = {
  en: new Intl.NumberFormat("en"),
  ru: new Intl.NumberFormat("ru"),
} satisfies Record<Language, Intl.NumberFormat>;

const rules = {
  en: new Intl.PluralRules("en"),
  ru: new Intl.PluralRules("ru"),
} satisfies Record<Language, Intl.PluralRules>;

/** A number as the language writes it: `1,234` or `1 234`. */
export function numberText(language: Language, count: number): string {
  return numbers[language].format(count);
}

/** A number with its noun: `counted("en", 2, { one: "bot", other: "bots" })`. */
export function counted(language: Language, count: number, forms: Forms): string {
  return `${numberText(language, count)} ${forms[rules[language].select(count)] ?? forms.other}`;
}
