import { distance } from "fastest-levenshtein";

/** A variable that is not a setting, but has nearly the name of one. */
interface MistypedSetting {
  readonly written: string;
  readonly meant: string;
}

interface KnownSettings {
  readonly names: readonly string[];
  /** Those that `NAME_FILE` may replace. */
  readonly secrets: readonly string[];
}

const MAX_MISTAKES = 2;
const UNIT =
  /_(MS|MILLISECONDS?|S|SECS?|SECONDS?|MIN|MINUTES?|H|HOURS?|DAYS?|WEEKS?|MONTHS?|KB|MB|GB|MEGABYTES|BYTES|PERCENT)$/;

/** Names that a bot's own program reads. They are no mistake if the setting beside them is set as well. */
const ofBots: Readonly<Record<string, string>> = { AD_API_TOKEN: "AD_API_TOKENS" };

/**
 * The variables that are probably mistyped settings: they differ by a typing mistake or two, in their case, in underscores, or
 * in the unit at the end; or they add `_FILE` to a setting that is no secret. A blank variable is not set.
 */
export function mistypedSettings(environment: NodeJS.ProcessEnv, { names, secrets }: KnownSettings): MistypedSetting[] {
  const readable = [...names, ...secrets.map((name) => `${name}_FILE`)];
  const known = new Set(readable);
  return Object.entries(environment).flatMap(([written, value]) => {
    if (!value?.trim() || known.has(written)) return [];
    const meant = readable.find((name) => isLike(written, name)) ?? withAnotherUnit(written, names);
    if (meant === undefined || environment[ofBots[written] ?? ""]) return [];
    return [{ written, meant }];
  });
}

/** One sentence for each of them, which never contains a value. */
export function mistypedSettingsIn(environment: NodeJS.ProcessEnv, known: KnownSettings): string[] {
  return mistypedSettings(environment, known).map(({ written, meant }) =>
    written === `${meant}_FILE`
      ? `${written} is set, and nothing reads it: only a secret can be in a file; set ${meant} itself`
      : `${written} is set, and nothing reads it: did you mean ${meant}?`,
  );
}

function isLike(written: string, name: string): boolean {
  if (written === `${name}_FILE`) return true;
  const [letters, expected] = [lettersOf(written), lettersOf(name)];
  if (letters === expected) return true;
  // Names of other programs are near to HOST, PORT and MODE.
  if (name.length < 5) return areSwapped(written, name);
  const [words, expectedWords] = [written.toUpperCase().split("_"), name.split("_")];
  if (words.length !== expectedWords.length) return false;
  const mistakes = expectedWords.map((expectedWord, index) => mistakesIn(words[index] ?? "", expectedWord));
  return mistakes.reduce((sum, count) => sum + count, 0) <= MAX_MISTAKES;
}

/** Infinite for another word. */
function mistakesIn(word: string, expected: string): number {
  if (word === expected) return 0;
  const count = areSwapped(word, expected) ? 1 : distance(word, expected);
  const allowed = expected.length < 3 ? 0 : expected.length < 6 ? 1 : MAX_MISTAKES;
  return count <= allowed ? count : Number.POSITIVE_INFINITY;
}

function areSwapped(word: string, expected: string): boolean {
  const at = [...expected].findIndex((letter, index) => letter !== word[index]);
  const [first = "", second = ""] = [expected[at], expected[at + 1]];
  return word === `${expected.slice(0, at)}${second}${first}${expected.slice(at + 2)}`;
}

/** The setting that differs only in its unit, or the nearest one of the same family and unit (`RETENTION_EVENTS_DAYS`). */
function withAnotherUnit(written: string, names: readonly string[]): string | undefined {
  const measured = names.filter((name) => UNIT.test(name));
  const stem = stemOf(written);
  const same = measured.find((name) => stemOf(name) === stem && (stem !== written || stem.includes("_")));
  if (same !== undefined) return same;
  const [family] = written.split("_");
  const [unit] = UNIT.exec(written) ?? [];
  if (unit === undefined) return undefined;
  return measured
    .filter((name) => name.startsWith(`${family}_`) && name.endsWith(unit))
    .toSorted((a, b) => distance(a, written) - distance(b, written))[0];
}

function stemOf(name: string): string {
  return name.replace(UNIT, "");
}

function lettersOf(name: string): string {
  return name.toUpperCase().replaceAll(/[_.-]/g, "");
}
