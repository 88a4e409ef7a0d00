import type { AnyDictionary } from "./dictionary.ts";
import { en } from "./en.ts";

interface Language {
  readonly direction: "ltr" | "rtl";
  readonly load: () => Promise<AnyDictionary>;
}

/**
 * To add a language, add a dictionary beside this file and a line here. Each dictionary is a separate chunk, so that a user
 * loads only one language. Only English is in the first load, as the fallback that is always available.
 */
export const languages = {
  en: { direction: "ltr", load: async () => en },
  ru: { direction: "ltr", load: async () => (await import("./ru.ts")).ru },
  uk: { direction: "ltr", load: async () => (await import("./uk.ts")).uk },
  es: { direction: "ltr", load: async () => (await import("./es.ts")).es },
  pt: { direction: "ltr", load: async () => (await import("./pt.ts")).pt },
  ar: { direction: "rtl", load: async () => (await import("./ar.ts")).ar },
  fa: { direction: "rtl", load: async () => (await import("./fa.ts")).fa },
  hi: { direction: "ltr", load: async () => (await import("./hi.ts")).hi },
  id: { direction: "ltr", load: async () => (await import("./id.ts")).id },
  tr: { direction: "ltr", load: async () => (await import("./tr.ts")).tr },
} satisfies Record<string, Language>;

export type LanguageTag = keyof typeof languages;

/** The first preferred language that is supported, by its primary subtag (`ru-RU` is `ru`); English if none is. */
export function chooseLanguage(preferred: readonly (string | null | undefined)[]): LanguageTag {
  for (const language of preferred) {
    const tag = language?.toLowerCase().split(/[-_]/)[0];
    if (tag && isLanguageTag(tag)) return tag;
  }
  return "en";
}

function isLanguageTag(tag: string): tag is LanguageTag {
  return Object.hasOwn(languages, tag);
}
