import { type AmountKind, type AmountReading, readAmount } from "@intermission/operator-api/amounts";
import type { Language } from "../words/languages.ts";

/** `1,234` alone is left out: other readers mean another amount by it, so the reader is asked. */
const AMBIGUOUS = /^(?!0,)\d{1,3},\d{3}$/;

/** How a language writes digits in groups, and decimals. */
function formOf(language: Language): { written: RegExp; groups: RegExp } {
  const parts = new Intl.NumberFormat(language).formatToParts(1_234_567.8);
  const partOf = (type: "group" | "decimal") => parts.find((part) => part.type === type)?.value ?? "";
  const group = partOf("group").trim() === "" ? "[ \\u00a0\\u202f]" : `[${partOf("group")}]`;
  const decimal = partOf("decimal") === "," ? "[.,]" : "[.]";
  const written = new RegExp(`^(?:\\d+|[1-9]\\d{0,2}(?:${group}\\d{3})+)(?:${decimal}\\d+)?$`);
  return { written, groups: new RegExp(group, "g") };
}

/** Reads an amount as the reader's language writes it, such as `4,50` in Russian, or as everywhere: `4.50`. */
export function readTypedAmount(
  typed: string,
  { kind, language }: { kind: AmountKind; language: Language },
): AmountReading {
  const text = typed.trim();
  const { written, groups } = formOf(language);
  const isWritten = written.test(text) && !AMBIGUOUS.test(text);
  return readAmount(isWritten ? text.replaceAll(groups, "").replace(",", ".") : text, kind);
}
