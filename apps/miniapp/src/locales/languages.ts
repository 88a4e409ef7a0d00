import { type PageLanguage, primaryLanguage } from "@intermission/ad-core/page-language";
import type { AnyDictionary } from "./dictionary.ts";
import { en } from "./en.ts";

/** A module whose export is named after its language. A plain `import()`: Vite wraps any other in 60 bytes. */
type Load = () => Promise<Readonly<Record<string, AnyDictionary>>>;

/**
 * Each dictionary is a separate chunk, so that a user loads only one language. Only English is in the first load, as the
 * fallback that is always available.
 */
export const languages = {
  en: async () => ({ en }),
  ru: () => import("./ru.ts"),
  uk: () => import("./uk.ts"),
  es: () => import("./es.ts"),
  pt: () => import("./pt.ts"),
  ar: () => import("./ar.ts"),
  fa: () => import("./fa.ts"),
  hi: () => import("./hi.ts"),
  id: () => import("./id.ts"),
  tr: () => import("./tr.ts"),
  uz: () => import("./uz.ts"),
  de: () => import("./de.ts"),
  fr: () => import("./fr.ts"),
  vi: () => import("./vi.ts"),
  it: () => import("./it.ts"),
} satisfies Record<PageLanguage, Load>;

export type LanguageTag = PageLanguage;

export async function loadDictionary(language: LanguageTag): Promise<AnyDictionary> {
  const load: Load = languages[language];
  return (await load())[language] ?? en;
}

/** The first preferred language that is supported, by its primary subtag (`ru-RU` is `ru`); English if none is. */
export function chooseLanguage(preferred: readonly (string | null | undefined)[]): LanguageTag {
  for (const language of preferred) {
    const tag = primaryLanguage(language ?? "");
    if (isLanguageTag(tag)) return tag;
  }
  return "en";
}

function isLanguageTag(tag: string): tag is LanguageTag {
  return Object.keys(languages).includes(tag);
}
