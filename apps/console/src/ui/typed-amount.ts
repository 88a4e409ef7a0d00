import { type AmountKind, type AmountReading, readAmount } from "@intermission/operator-api/amounts";
import type { Language } from "../words/languages.ts";

/**
 * How each language writes digits in groups, and decimals. `1,234` alone is left out: other readers mean another amount by it,
 * so the reader is asked.
 */
const forms = {
  en: { written: /^[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d+)?|,\d{3}\.\d+)$/, groups: /,/g },
  ru: {
    written: /^(?!\d{1,3},\d{3}$)(?:\d+|[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+)(?:[.,]\d+)?$|^0,\d+$/,
    groups: /[ \u00a0\u202f]/g,
  },
} as const satisfies Record<Language, { written: RegExp; groups: RegExp }>;

/** Reads an amount as the reader's language writes it, such as `4,50` in Russian, or as everywhere: `4.50`. */
export function readTypedAmount(
  typed: string,
  { kind, language }: { kind: AmountKind; language: Language },
): AmountReading {
  const text = typed.trim();
  const { written, groups } = forms[language];
  return readAmount(written.test(text) ? text.replaceAll(groups, "").replace(",", ".") : text, kind);
}
