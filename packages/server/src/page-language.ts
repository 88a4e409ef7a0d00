export type PageLanguage = "en" | "ru";

/** The language with the highest quality in Accept-Language (RFC 9110, 12.5.4) among those we have. */
export function pageLanguage(acceptLanguage = ""): PageLanguage {
  let best: { language: PageLanguage; quality: number } = { language: "en", quality: 0 };
  for (const entry of acceptLanguage.split(",")) {
    const [tag = "", ...parameters] = entry
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1);
    const language = tag.split("-")[0];
    if ((language === "en" || language === "ru") && quality > best.quality) best = { language, quality };
  }
  return best.language;
}
