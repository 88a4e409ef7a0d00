import type { PageLanguage } from "@intermission/ad-core/page-language";

/** Apart from the dictionaries, since only the frame of a publisher's own mini-app shows interstitials. */
export const interstitialWords = {
  en: { skip: "Skip", skipIn: "Skip in {count} s" },
  ru: { skip: "Пропустить", skipIn: "Пропустить через {count} с" },
  uk: { skip: "Пропустити", skipIn: "Пропустити через {count} с" },
  es: { skip: "Omitir", skipIn: "Omitir en {count} s" },
  pt: { skip: "Pular", skipIn: "Pular em {count} s" },
  ar: { skip: "تخطّي", skipIn: "التخطّي بعد {count} ث" },
  fa: { skip: "رد شدن", skipIn: "رد شدن پس از {count} ثانیه" },
  hi: { skip: "छोड़ें", skipIn: "{count} से॰ में छोड़ें" },
  id: { skip: "Lewati", skipIn: "Lewati dalam {count} dtk" },
  tr: { skip: "Geç", skipIn: "{count} sn sonra geç" },
  uz: { skip: "Oʻtkazib yuborish", skipIn: "{count} s dan keyin oʻtkazish" },
  de: { skip: "Überspringen", skipIn: "Überspringen in {count} s" },
  fr: { skip: "Passer", skipIn: "Passer dans {count} s" },
  vi: { skip: "Bỏ qua", skipIn: "Bỏ qua sau {count} giây" },
  it: { skip: "Salta", skipIn: "Salta tra {count} s" },
} satisfies Record<PageLanguage, Readonly<Record<"skip" | "skipIn", string>>>;
