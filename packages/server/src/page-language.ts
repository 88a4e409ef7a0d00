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
export function pageLanguage(acceptLanguage: string | undefined): PageLanguage {
  const spoken = acceptedLanguages(acceptLanguage).map((tag) => tag.split("-")[0] ?? "");
  return spoken.find(isPageLanguage) ?? "en";
}

/** The tags of Accept-Language in lower case, those of the highest quality first. */
export function acceptedLanguages(acceptLanguage = ""): string[] {
  const entries = acceptLanguage.split(",").map((entry) => {
    const [tag = "", ...parameters] = entry
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    return { tag, quality };
  });
  const accepted = entries.filter(({ tag, quality }) => tag !== "" && quality > 0);
  return accepted.sort((a, b) => b.quality - a.quality).map(({ tag }) => tag);
}

function isPageLanguage(language: string): language is PageLanguage {
  return Object.hasOwn(pageLanguages, language);
}
