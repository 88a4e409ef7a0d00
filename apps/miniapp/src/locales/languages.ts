import type { AnyDictionary } from "./dictionary.ts";
import { en } from "./en.ts";

interface Language {
  readonly direction: "ltr" | "rtl";
  readonly load: () => Promise<AnyDictionary>;
}

/** To add a language: a dictionary beside this file and a line here. English is in the first load, as what always works. */
export const languages = {
  en: { direction: "ltr", load: async () => en },
  ru: { direction: "ltr", load: async () => (await import("./ru.ts")).ru },
} satisfies Record<string, Language>;

export type LanguageTag = keyof typeof languages;
