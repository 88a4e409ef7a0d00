import type { PageLanguage } from "@intermission/server/page-language";
import { ar } from "./page-texts/ar.ts";
import { en } from "./page-texts/en.ts";
import { es } from "./page-texts/es.ts";
import { fa } from "./page-texts/fa.ts";
import { hi } from "./page-texts/hi.ts";
import { id } from "./page-texts/id.ts";
import type { LinkPageTexts } from "./page-texts/link-page-texts.ts";
import { pt } from "./page-texts/pt.ts";
import { ru } from "./page-texts/ru.ts";
import { tr } from "./page-texts/tr.ts";
import { uk } from "./page-texts/uk.ts";

export const linkPageTexts: Record<PageLanguage, LinkPageTexts> = { en, ru, uk, es, pt, ar, fa, hi, id, tr };

/** "in 5 minutes", rounded up to whole minutes, hours from two hours on. */
export function fromNow(seconds: number, language: PageLanguage): string {
  const format = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  if (seconds < 60) return format.format(Math.max(1, Math.ceil(seconds)), "second");
  if (seconds < 2 * 3600) return format.format(Math.ceil(seconds / 60), "minute");
  return format.format(Math.ceil(seconds / 3600), "hour");
}
