import { type LanguageTag, languages } from "./languages.ts";

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
