import type { PageLanguage } from "@intermission/ad-core/page-language";
import type { TaskTexts } from "./task-texts.ts";

type Load = () => Promise<Readonly<Record<string, TaskTexts>>>;

/** A set of their own beside the dictionaries: users of ads load none of them. */
const taskTexts = {
  en: () => import("./en.ts"),
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

const PAUSE_MS = 2000;

/** The texts in the language of the page; a lost connection only delays them. */
export async function loadTaskTexts(language: string): Promise<TaskTexts> {
  const tag = Object.hasOwn(taskTexts, language) ? (language as PageLanguage) : "en";
  const load: Load = taskTexts[tag];
  for (;;) {
    const texts = (await load().catch(() => undefined))?.[tag];
    if (texts) return texts;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}
