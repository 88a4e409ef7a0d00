/** The languages of the pages that the service itself shows, and the direction of their script: those of the mini-app. */
export const pageLanguages = {
  en: "ltr",
  ru: "ltr",
  uk: "ltr",
  es: "ltr",
  pt: "ltr",
  ar: "rtl",
  fa: "rtl",
  hi: "ltr",
  id: "ltr",
  tr: "ltr",
} as const;

export type PageLanguage = keyof typeof pageLanguages;

/** The language with the highest quality in Accept-Language (RFC 9110, 12.5.4) among those we have. */
export function pageLanguage(acceptLanguage = ""): PageLanguage {
  let best: { language: PageLanguage; quality: number } = { language: "en", quality: 0 };
  for (const entry of acceptLanguage.split(",")) {
    const [tag = "", ...parameters] = entry
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    const language = tag.split("-")[0] ?? "";
    if (isPageLanguage(language) && quality > best.quality) best = { language, quality };
  }
  return best.language;
}

function isPageLanguage(language: string): language is PageLanguage {
  return Object.hasOwn(pageLanguages, language);
}
