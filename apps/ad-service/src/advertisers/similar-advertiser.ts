import { advertiserKey } from "@intermission/operator-api/advertisers";
import { type Database, statement } from "@intermission/postgres/open-database";
import { distance } from "fastest-levenshtein";

/** One typing mistake in so many letters, but three at most. */
const LETTERS_PER_MISTAKE = 5;
const MAX_MISTAKES = 3;
/** Below this many letters, unrelated names differ by one letter. */
const MIN_LETTERS = 4;

/**
 * The advertiser that a new name probably means: it differs in punctuation, by some typing mistakes, or has a word more or
 * less, such as "Acme" and "Acme Ltd". Undefined if the name is known, or like no other.
 */
export function similarAdvertiser(name: string, known: readonly string[]): string | undefined {
  const key = advertiserKey(name);
  if (known.some((other) => advertiserKey(other) === key)) return undefined;
  return known.find((other) => isSimilar(key, advertiserKey(other)));
}

function isSimilar(a: string, b: string): boolean {
  const [first, second] = [lettersOf(a), lettersOf(b)];
  if (first === second) return first !== "";
  const length = Math.min(first.length, second.length);
  if (length < MIN_LETTERS) return false;
  const mistakes = Math.min(Math.max(1, Math.floor(length / LETTERS_PER_MISTAKE)), MAX_MISTAKES);
  return distance(first, second) <= mistakes || hasWordsOf(a, b) || hasWordsOf(b, a);
}

function lettersOf(key: string): string {
  return key.replace(/[^\p{L}\p{N}]/gu, "");
}

function hasWordsOf(longer: string, shorter: string): boolean {
  const words = new Set(wordsOf(longer));
  return wordsOf(shorter).every((word) => words.has(word));
}

function wordsOf(key: string): string[] {
  return key.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
}

const listNames = statement<{ name: string }>("advertisers.list-names", "select name from advertisers order by name");

/** The names of all advertisers. */
export async function advertiserNames(database: Database): Promise<string[]> {
  return (await database.run(listNames, [])).map(({ name }) => name);
}

/** The names that no advertiser has, each with the advertiser that was probably meant. */
export async function unknownAdvertisers(
  database: Database,
  names: readonly string[],
): Promise<{ name: string; similar: string | undefined }[]> {
  const known = await advertiserNames(database);
  const keys = new Set(known.map(advertiserKey));
  const unknown = names.filter((name) => !keys.has(advertiserKey(name)));
  return unknown.map((name) => ({ name, similar: similarAdvertiser(name, known) }));
}
