/**
 * The languages of all that a bot's users see: the mini-app, the pages of direct links and of errors, the menu of the demo. A
 * language that is added here fails to compile, or fails a test, at each place that has no texts for it.
 */
export const pageLanguages = [
  "en",
  "ru",
  "uk",
  "es",
  "pt",
  "ar",
  "fa",
  "hi",
  "id",
  "tr",
  "uz",
  "de",
  "fr",
  "vi",
  "it",
] as const;

export type PageLanguage = (typeof pageLanguages)[number];

/** The direction of the language's script. */
export function directionOf(language: PageLanguage): "ltr" | "rtl" {
  return language === "ar" || language === "fa" ? "rtl" : "ltr";
}

/** The primary subtag of a language tag, also of `pt_BR`. Java's old code for Indonesian is `in`, which Android sends. */
export function primaryLanguage(tag: string): string {
  const language = tag.toLowerCase().split(/[-_]/)[0] ?? "";
  return language === "in" ? "id" : language;
}

/** The language with the highest quality in Accept-Language (RFC 9110, 12.5.4) among those we have. */
export function pageLanguage(acceptLanguage: string | undefined): PageLanguage {
  const spoken = acceptedLanguages(acceptLanguage).map(primaryLanguage);
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
  return pageLanguages.some((each) => each === language);
}
