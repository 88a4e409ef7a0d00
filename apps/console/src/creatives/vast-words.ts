import type { DropReason } from "@intermission/operator-api/creatives";
import { loadWords } from "../words/catalog.ts";
import type { Language } from "../words/languages.ts";

export const vastWords = loadWords("vast");

export const dropWords = loadWords("vastDrops") satisfies Record<Language, Record<DropReason, string>>;

/** What to do about a VAST error. */
export function adviceOf(advice: Readonly<Record<string, string>> & { other: string }, code: number): string {
  return advice[code] ?? advice.other;
}
