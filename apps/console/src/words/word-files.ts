import type { Language } from "./languages.ts";
import { preferredLanguage } from "./word-table.ts";

type Load = (language: Language) => Promise<void>;

/** Load the sections that are in use, in a language. */
const loaders = new Set<Load>();

/** The language of this window. The kept one may be another: windows share it. */
let shown: Language | undefined;

/** The language that the reader chose last. */
let chosen: Language | undefined;

export function shownLanguage(): Language {
  shown ??= preferredLanguage();
  return shown;
}

/** Words that come in a file for each language: from now on they are loaded with the others. */
export function addWordFiles(load: Load): void {
  loaders.add(load);
  // A failure is that of `wordsLoaded`, which tries again.
  load(shownLanguage()).catch(() => {});
}

/** The words of all files that are loaded, in the language of this window. */
export async function wordsLoaded(): Promise<void> {
  const language = shownLanguage();
  await loadAll(language);
  if (language !== shownLanguage()) await wordsLoaded();
}

/** @public In the build, what each dynamic import of a file of this app returns (`build/split-words.ts`). */
export async function withWords<Module>(module: Promise<Module>): Promise<Module> {
  const loaded = await module;
  await wordsLoaded();
  return loaded;
}

/**
 * Loads all words in a language, and makes it the language of this window. The caller shows it at once if this returns true;
 * false: another language was chosen meanwhile. If the words cannot be loaded, this rejects and the window keeps its language.
 */
export async function changeLanguage(language: Language): Promise<boolean> {
  chosen = language;
  await loadAll(language);
  if (chosen !== language) return false;
  shown = language;
  return true;
}

async function loadAll(language: Language): Promise<void> {
  const { size } = loaders;
  await Promise.all([...loaders].map((load) => load(language)));
  // Files that came meanwhile began with the language that was shown then.
  if (loaders.size > size) await loadAll(language);
}
