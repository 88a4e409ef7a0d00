import { errorClassWords } from "../words/error-class-words.ts";
import type { Language } from "../words/languages.ts";

/** The status of an answer, or why there is none; logs may hold error classes of other versions. */
export function resultText(
  language: Language,
  { status, errorClass }: { status: number | null; errorClass: string | null },
): string {
  if (status !== null) return String(status);
  if (errorClass === null) return "–";
  const words: Readonly<Record<string, string>> = errorClassWords[language];
  return Object.hasOwn(words, errorClass) ? (words[errorClass] ?? "") : errorClass;
}
