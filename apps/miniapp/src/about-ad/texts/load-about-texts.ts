import type { PageLanguage } from "@intermission/ad-core/page-language";
import type { AboutTexts } from "./about-texts.ts";
import { en } from "./en.ts";

type Load = () => Promise<Readonly<Record<string, AboutTexts>>>;

/** A set of their own beside the dictionaries, because few users open the sheet. */
export const aboutTexts = {
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

/** The texts in the language of the page; in English if they cannot be loaded. */
export async function loadAboutTexts(language: string): Promise<AboutTexts> {
  const load = (aboutTexts as Readonly<Record<string, Load>>)[language];
  try {
    return (await load?.())?.[language] ?? en;
  } catch {
    return en;
  }
}
