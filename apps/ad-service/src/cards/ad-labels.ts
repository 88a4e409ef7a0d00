import type { PageLanguage } from "@intermission/ad-core/page-language";

/** How a card is marked as an ad, as the mini-app marks its ads. */
export const adLabels: Record<PageLanguage, string> = {
  en: "Ad",
  ru: "Реклама",
  uk: "Реклама",
  es: "Anuncio",
  pt: "Anúncio",
  ar: "إعلان",
  fa: "تبلیغ",
  hi: "विज्ञापन",
  id: "Iklan",
  tr: "Reklam",
  uz: "Reklama",
  de: "Werbung",
  fr: "Publicité",
  vi: "Quảng cáo",
  it: "Annuncio",
};
